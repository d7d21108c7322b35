package inventory

import (
	"context"
	"errors"
	"fmt"
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

// refusedPage is an error of whoever takes the pages. It ends the listing as it is.
type refusedPage struct{ error }

func (r refusedPage) Unwrap() error { return r.error }

// lists runs several lists of one part. What AWS refused does not keep the others from being listed; the error then names every refused
// list. It ends at once when the work is stopped or AWS does not answer at all.
type lists struct {
	ctx  context.Context
	errs []error
	over bool
}

// run runs one list, unless the part is over.
func (l *lists) run(list func(context.Context) error) {
	if l.over {
		return
	}
	err := list(l.ctx)
	var refused refusedPage
	switch {
	case err == nil:
		return
	case l.ctx.Err() != nil:
		l.errs, l.over = []error{context.Cause(l.ctx)}, true
	case errors.As(err, &refused):
		l.errs, l.over = []error{refused.error}, true
	default:
		l.over = !answered(err)
		l.errs = append(l.errs, plain(err))
	}
}

// err returns what went wrong, in one line.
func (l *lists) err() error {
	switch len(l.errs) {
	case 0:
		return nil
	case 1:
		return l.errs[0]
	}
	return fmt.Errorf("%w; and %d more lists failed, the last one because %w", l.errs[0], len(l.errs)-1, l.errs[len(l.errs)-1])
}
