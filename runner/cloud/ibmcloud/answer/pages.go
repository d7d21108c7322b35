package answer

import (
	"context"
	"fmt"
	"net/url"
)

// Hundred is the size of a page that every service of IBM Cloud accepts.
func Hundred() *int64 { return new(int64(100)) }

// Pager is the interface of all pagers of the SDKs.
type Pager[T any] interface {
	HasNext() bool
	GetNextWithContext(context.Context) ([]T, error)
}

// Pages gives every page of a list to take. made is the error of making the pager.
func Pages[T any](ctx context.Context, p Pager[T], made error, take func(page []T) error) (err error) {
	if made != nil {
		return made
	}
	for p.HasNext() {
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

// nextPage reads one page. IBM's pagers panic on a response without a body.
func nextPage[T any](ctx context.Context, p Pager[T]) (page []T, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			page, err = nil, fmt.Errorf("%w: %v", ErrNoList, broken)
		}
	}()
	page, err = p.GetNextWithContext(ctx)
	switch {
	case err != nil:
		return nil, Explain(nil, err)
	case page == nil:
		return nil, ErrNoList
	}
	return page, nil
}

// TokenPages reads the pages of a list of IAM, whose addresses of next pages contain a token.
func TokenPages(read func(token *string) (next *string, err error)) error {
	for token := (*string)(nil); ; {
		next, err := read(token)
		if err != nil {
			return err
		}
		if Text(next) == "" {
			return nil
		}
		address, err := url.Parse(*next)
		if err != nil || address.Query().Get("pagetoken") == "" {
			return fmt.Errorf("the address of the next page, %.200q, has no token", *next)
		}
		value := address.Query().Get("pagetoken")
		if Text(token) == value {
			return fmt.Errorf("the page %.80q names itself as the next one", value)
		}
		token = &value
	}
}

// CountedPages reads pages until it has as many items as IBM says there are. What Internet Services calls count is the number of items on a
// page, and says nothing about that.
func CountedPages(read func(page, listed int64) (found int, total *int64, err error)) error {
	listed := int64(0)
	for page := int64(1); ; page++ {
		found, total, err := read(page, listed)
		switch {
		case err != nil:
			return err
		case total == nil:
			return ErrNoList
		}
		listed += int64(found)
		switch {
		case listed >= *total:
			return nil
		case found == 0:
			return fmt.Errorf("page %d is empty, but only %d of %d items were listed", page, listed, *total)
		}
	}
}
