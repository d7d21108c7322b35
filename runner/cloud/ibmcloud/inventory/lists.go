package inventory

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/ibmcloud/answer"
	"github.com/ocpctl/ocpctl/runner/cloud/parts"
)

// listing is one part while it is listed.
type listing struct {
	*Client
	account string
	region  string
	index   index
	groups  groups
	seen    map[string]bool // CRNs of what the part has reported
	emit    parts.Emit
	lists   *parts.Lists
}

// thing is a resource in the form that all lists share.
type thing struct {
	contract.SeenResource
	group string   // id of its resource group
	in    []string // CRNs of what it is a part of, the nearest first
	holds bool     // a list says that it belongs to a cluster

	taggable bool // runners give it a cluster's tags if it is in the cluster's resource group
}

// reportPage emits those of a page that may belong to a cluster.
func (l *listing) reportPage(page []thing) error {
	var out []contract.SeenResource
	for _, t := range page {
		if l.judgeThing(&t) {
			l.seen[t.ID] = true
			out = append(out, t.SeenResource)
		}
	}
	return l.emit(out)
}

// judgeThing gives a thing its tags and its place, and reports whether it may belong to a cluster.
func (l *listing) judgeThing(t *thing) bool {
	if tags := l.index.tags[t.ID]; t.Tags == nil && tags != nil {
		t.Tags = tags
	}
	for _, place := range append(t.in, l.groups[t.group]) {
		if t.Within == "" && place != "" && (l.seen[place] || place == l.groups[t.group]) {
			t.Within = place
		}
	}
	t.TaggedLater = t.taggable && l.groups[t.group] != ""
	return t.holds || t.Within != "" || isTagged(t.Tags) || isNamed(t.Name)
}

// runList runs one list, whose errors name the call.
func (l *listing) runList(call string, list func(context.Context) error) {
	l.lists.Run(func(ctx context.Context) error {
		if err := list(ctx); err != nil {
			return failed{call, err}
		}
		return nil
	})
}

// failed is the error of a call.
type failed struct {
	call string
	error
}

func (f failed) Unwrap() error { return f.error }

// isAnswer reports that IBM answered, with whatever.
func isAnswer(err error) bool {
	return answer.StatusOf(nil, err) != 0 || errors.Is(err, answer.ErrNoList)
}

// explainError returns what IBM answered, or why there was no answer. A token that IBM does not accept gives cloud.ErrCredentialsExpired: it was
// accepted when the scan began.
func explainError(err error) error {
	call := "a call"
	if f := (failed{}); errors.As(err, &f) {
		call, err = f.call, f.error
	}
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
