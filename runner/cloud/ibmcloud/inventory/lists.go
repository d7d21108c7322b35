package inventory

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
)

// listing is one part while it is listed.
type listing struct {
	*Client
	account string
	region  string
	index   index
	groups  groups
	seen    map[string]bool // CRNs of what the part has reported
	emit    Emit
	lists   lists
}

// thing is a resource in the form that all lists share.
type thing struct {
	contract.SeenResource
	group string   // id of its resource group
	in    []string // CRNs of what it is a part of, the nearest first
	holds bool     // a list says that it belongs to a cluster
}

// report emits those of a page that may belong to a cluster.
func (l *listing) report(page []thing) error {
	var out []contract.SeenResource
	for _, t := range page {
		if l.judge(&t) {
			l.seen[t.ID] = true
			out = append(out, t.SeenResource)
		}
	}
	return l.emit(out)
}

// judge gives a thing its tags and its place, and reports whether it may belong to a cluster.
func (l *listing) judge(t *thing) bool {
	if tags := l.index.tags[t.ID]; t.Tags == nil && tags != nil {
		t.Tags = tags
	}
	for _, place := range append(t.in, l.groups[t.group]) {
		if t.Within == "" && place != "" && (l.seen[place] || place == l.groups[t.group]) {
			t.Within = place
		}
	}
	return t.holds || t.Within != "" || tagged(t.Tags) || named(t.Name)
}

// refusedPage is an error of whoever takes the pages. It ends the listing as it is.
type refusedPage struct{ error }

func (r refusedPage) Unwrap() error { return r.error }

// lists runs several lists of one part. What IBM refused does not keep the others from being listed; the error then names every refused
// list. It ends at once when the work is stopped or IBM does not answer at all.
type lists struct {
	ctx  context.Context
	errs []error
	over bool
}

// run runs one list, unless the part is over.
func (l *lists) run(call string, list func(context.Context) error) {
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
		l.over = answer.StatusOf(nil, err) == 0 && !errors.Is(err, answer.ErrNoList)
		l.errs = append(l.errs, plain(call, err))
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

// plain returns what IBM answered, or why there was no answer. A token that IBM does not accept gives cloud.ErrCredentialsExpired: it was
// accepted when the sweep began.
func plain(call string, err error) error {
	code := answer.StatusOf(nil, err)
	switch {
	case answer.RefusesCredentials(err):
		return fmt.Errorf("%w: %w", cloud.ErrCredentials, answer.Explain(nil, err))
	case code == 0:
		return fmt.Errorf("%s was not answered: %w", call, err)
	case code == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s was refused with %w", cloud.ErrCredentialsExpired, call, answer.Explain(nil, err))
	}
	return fmt.Errorf("%s was refused with %w", call, answer.Explain(nil, err))
}
