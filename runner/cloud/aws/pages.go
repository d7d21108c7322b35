package aws

import "context"

// pager is the interface of all paginators of the SDK.
type pager[Page, Options any] interface {
	HasMorePages() bool
	NextPage(context.Context, ...func(*Options)) (*Page, error)
}

// collectPages reads every page. A refused page makes the whole result an error.
func collectPages[Page, Options, T any](ctx context.Context, p pager[Page, Options], take func(*Page) []T) ([]T, error) {
	var all []T
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, take(page)...)
	}
	return all, nil
}

// convertEach converts a slice of the SDK's type to ours.
func convertEach[T, Ours any](items []T, oursOf func(T) Ours) []Ours {
	out := make([]Ours, 0, len(items))
	for _, item := range items {
		out = append(out, oursOf(item))
	}
	return out
}
