package inventory

import (
	"context"

	"github.com/ocpctl/ocpctl/runner/cloud/parts"
)

// pager is the interface of all paginators of the SDK.
type pager[Page, Options any] interface {
	HasMorePages() bool
	NextPage(context.Context, ...func(*Options)) (*Page, error)
}

// eachPage gives every page to take. A page may be short or empty: only the missing token of the last one ends the list.
func eachPage[Page, Options any](ctx context.Context, p pager[Page, Options], take func(*Page) error) error {
	for p.HasMorePages() {
		page, err := nextPage(ctx, p)
		if err != nil {
			return err
		}
		if err := take(page); err != nil {
			return err
		}
	}
	return nil
}

func nextPage[Page, Options any](ctx context.Context, p pager[Page, Options]) (*Page, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return p.NextPage(ctx)
}

// once makes a call that has no pages.
func once[In, Out, Options any](ctx context.Context, call func(context.Context, In, ...func(*Options)) (Out, error), in In) (Out, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return call(ctx, in)
}

// listsOf are the lists of one part.
func listsOf(ctx context.Context) *parts.Lists { return parts.New(ctx, answered, plain) }
