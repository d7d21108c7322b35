// Package parts runs the lists of which one part of a scan through a cloud account consists.
package parts

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/internal/contract"
)

// Emit takes what one page showed. An error of it ends the listing.
type Emit = func(page []contract.SeenResource) error

// Lists runs several lists of one part. What the cloud refused does not keep the others from being listed; the error then names every
// refused list. It ends at once when the work is stopped, when nobody takes a page, or when the cloud does not answer at all: every list
// would cost all its tries.
type Lists struct {
	ctx      context.Context
	answered func(error) bool
	plain    func(error) error

	errs []error
	over bool
}

// New makes the lists of one part. answered reports that an error is an answer of the cloud, plain makes one readable.
func New(ctx context.Context, answered func(error) bool, plain func(error) error) *Lists {
	return &Lists{ctx: ctx, answered: answered, plain: plain}
}

// untaken is an error of whoever takes the pages. It ends the part as it is.
type untaken struct{ error }

func (u untaken) Unwrap() error { return u.error }

// To returns emit without empty pages, and such that Run knows its errors.
func To(emit Emit) Emit {
	return func(page []contract.SeenResource) error {
		if len(page) == 0 {
			return nil
		}
		if err := emit(page); err != nil {
			return untaken{err}
		}
		return nil
	}
}

// Run runs one list, unless the part is over.
func (l *Lists) Run(list func(context.Context) error) {
	if l.over {
		return
	}
	err := list(l.ctx)
	var nobody untaken
	switch {
	case err == nil:
		return
	case l.ctx.Err() != nil:
		l.errs, l.over = []error{context.Cause(l.ctx)}, true
	case errors.As(err, &nobody):
		l.errs, l.over = []error{nobody.error}, true
	default:
		l.over = !l.answered(err)
		l.errs = append(l.errs, l.plain(err))
	}
}

// Err returns what went wrong, in one line.
func (l *Lists) Err() error {
	switch len(l.errs) {
	case 0:
		return nil
	case 1:
		return l.errs[0]
	}
	return fmt.Errorf("%w; and %d more lists failed, the last one because %w", l.errs[0], len(l.errs)-1, l.errs[len(l.errs)-1])
}
