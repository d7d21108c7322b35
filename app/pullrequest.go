package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// LabelPrefix starts every label that is ours; what follows is the profile's name.
const LabelPrefix = "ocp/"

// The actions that are somebody's deed on a label, and so may ask for a cluster again after one is going.
const (
	ActionOpened    = "opened"
	ActionReopened  = "reopened"
	ActionLabeled   = "labeled"
	ActionUnlabeled = "unlabeled"
)

// PullRequestEvent is one thing that happened to a pull request, or a look at it (any other action).
type PullRequestEvent struct {
	PR     store.PullRequest
	Actor  string // login of who did it
	Action string // GitHub's action
	Label  string // the label of a labeled or unlabeled action
}

// SyncPullRequest makes the clusters of a pull request follow its labels and its state. It is level-triggered: the
// same event twice, or an older one late, changes nothing. The note says in words what was done.
func (d *Desk) SyncPullRequest(ctx context.Context, e PullRequestEvent) (note string, err error) {
	if e.PR, err = d.merged(ctx, e); err != nil {
		return "", err
	}
	fresh, err := d.store.SeePullRequest(ctx, e.PR, e.Action == ActionReopened)
	if err != nil {
		return "", fmt.Errorf("remember pull request: %w", err)
	}
	if !fresh {
		return "older than what was already seen; nothing changed", nil
	}
	live, err := d.live(ctx, e.PR.Repo, e.PR.Number)
	if err != nil {
		return "", err
	}
	var notes []string
	for _, row := range live {
		moved, err := d.syncEnds(ctx, row, e)
		if err != nil {
			return "", err
		}
		notes = append(notes, moved...)
	}
	if e.PR.Open {
		for _, label := range e.PR.Labels {
			said, err := d.syncLabel(ctx, e, label)
			if err != nil {
				return "", err
			}
			notes = append(notes, said...)
		}
		settled, err := d.settle(ctx, e.PR.Repo, e.PR.Number, e.Actor)
		if err != nil {
			return "", err
		}
		notes = append(notes, settled...)
	}
	if len(notes) == 0 {
		return "nothing to change", nil
	}
	return strings.Join(notes, "; "), nil
}

// settle looks at the pull request once more after a wish was written. An event that closed it, or took the label off,
// may have been processed in between, when there was no cluster yet whose end it could set; either it or this sees both.
func (d *Desk) settle(ctx context.Context, repo string, number int, actor string) ([]string, error) {
	pr, err := d.store.PullRequest(ctx, repo, number)
	if err != nil {
		return nil, fmt.Errorf("read pull request again: %w", err)
	}
	rows, err := d.live(ctx, repo, number)
	if err != nil {
		return nil, err
	}
	var notes []string
	for _, row := range rows {
		moved, err := d.syncEnds(ctx, row, PullRequestEvent{PR: pr, Actor: actor})
		if err != nil {
			return nil, err
		}
		notes = append(notes, moved...)
	}
	return notes, nil
}

// merged guards against two label events of one second arriving in the wrong order: updated_at has whole seconds, so
// of two payloads with the same one neither is newer, and only the label the event is about may change.
func (d *Desk) merged(ctx context.Context, e PullRequestEvent) (store.PullRequest, error) {
	if e.Action != ActionLabeled && e.Action != ActionUnlabeled {
		return e.PR, nil
	}
	seen, err := d.store.PullRequest(ctx, e.PR.Repo, e.PR.Number)
	if errors.Is(err, store.ErrNotFound) {
		return e.PR, nil
	}
	if err != nil {
		return store.PullRequest{}, fmt.Errorf("read pull request: %w", err)
	}
	if !seen.UpdatedAt.Equal(e.PR.UpdatedAt) {
		return e.PR, nil
	}
	labels := slices.DeleteFunc(slices.Clone(seen.Labels), func(l string) bool { return l == e.Label })
	if e.Action == ActionLabeled {
		labels = append(labels, e.Label)
	}
	e.PR.Labels = labels
	return e.PR, nil
}

// live lists the clusters of a pull request that nobody wished away yet.
func (d *Desk) live(ctx context.Context, repo string, number int) ([]store.Row, error) {
	rows, _, err := d.store.List(ctx, store.Filter{Repo: repo, Number: number, Live: true, Limit: 500})
	if err != nil {
		return nil, fmt.Errorf("list clusters of %s#%d: %w", repo, number, err)
	}
	return slices.DeleteFunc(rows, func(r store.Row) bool { return r.Wish != lifecycle.Present }), nil
}

// syncEnds sets or lifts the reversible ends of one cluster.
func (d *Desk) syncEnds(ctx context.Context, row store.Row, e PullRequestEvent) ([]string, error) {
	labelGone := row.Door == policy.DoorLabel && !slices.Contains(e.PR.Labels, LabelPrefix+row.Profile)
	var notes []string
	for _, end := range []struct {
		kind   store.EndKind
		wanted bool
		set    time.Time
		why    string
	}{
		{store.EndPRClosed, !e.PR.Open, row.Ends.PRClosed, "the pull request is closed"},
		{store.EndLabelRemoved, labelGone, row.Ends.LabelRemoved, "its label is gone"},
	} {
		if end.wanted == !end.set.IsZero() {
			continue
		}
		var at *time.Time
		note := fmt.Sprintf("%s goes on: no longer true that %s", row.Name, end.why)
		if end.wanted {
			now, err := d.store.Now(ctx)
			if err != nil {
				return nil, fmt.Errorf("read the clock: %w", err)
			}
			t := now.Add(row.Spec.Grace)
			at, note = &t, fmt.Sprintf("%s ends %s: %s", row.Name, t.UTC().Format(time.RFC3339), end.why)
		}
		if err := d.store.SetEnd(ctx, row.ID, end.kind, at, principalID(e.Actor)); err != nil {
			return nil, fmt.Errorf("set end of %s: %w", row.ID, err)
		}
		notes = append(notes, note)
	}
	return notes, nil
}

// syncLabel ensures the cluster a label asks for.
func (d *Desk) syncLabel(ctx context.Context, e PullRequestEvent, label string) ([]string, error) {
	name, ours := strings.CutPrefix(label, LabelPrefix)
	if !ours {
		return nil, nil
	}
	profile, known := d.catalogue.Get(name)
	if !known {
		reply := store.Reply{
			Cause:        fmt.Sprintf("label:%s#%d:%s", e.PR.Repo, e.PR.Number, label),
			Installation: e.PR.Installation, Repo: e.PR.Repo, Number: e.PR.Number,
			Body: chatops.UnknownLabel(label, d.catalogue.Names()),
		}
		if err := d.store.SaveReply(ctx, reply); err != nil {
			return nil, fmt.Errorf("answer label %s: %w", label, err)
		}
		return []string{"no profile is called " + name}, nil
	}
	newest, err := d.store.ClusterForPR(ctx, e.PR.Repo, e.PR.Number, profile.Name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("look for the cluster of %s: %w", label, err)
	}
	if !wanted(newest, e, label) {
		return nil, nil
	}
	note, err := d.createForLabel(ctx, e, profile.Name, newest.Generation+1)
	if err != nil {
		return nil, err
	}
	return []string{note}, nil
}

// wanted says whether a standing label asks for one more cluster. A cluster that ended by its time or by command stays
// ended until somebody labels or reopens again; one that ended because the pull request was closed or the label was
// gone comes back as soon as that is seen to be undone, even if the event that told so was lost.
func wanted(newest store.Row, e PullRequestEvent, label string) bool {
	switch {
	case newest.ID == "":
		return true
	case newest.Wish == lifecycle.Present:
		return false
	case e.Action == ActionReopened:
		return true
	case e.Action == ActionLabeled && e.Label == label:
		return true
	}
	first := newest.Ends.DestroyAt()
	undone := first.Equal(newest.Ends.PRClosed) || first.Equal(newest.Ends.LabelRemoved)
	return newest.Teardown == lifecycle.JobJanitorDestroy && undone
}

func (d *Desk) createForLabel(ctx context.Context, e PullRequestEvent, profile string, generation int) (string, error) {
	key := fmt.Sprintf("label:%s#%d:%s:%s:%d", e.PR.Repo, e.PR.Number, profile, e.Action, e.PR.UpdatedAt.Unix())
	request, err := d.request(ctx, e.PR, e.Actor)
	if err != nil {
		return "", err
	}
	request.Door, request.Profile, request.Generation = policy.DoorLabel, profile, generation
	row, verdict, err := d.create(ctx, wish{request: request, pr: e.PR, actor: e.Actor, key: key, cause: key})
	switch {
	case KindOf(err) == Conflict:
		return d.sayConflict(ctx, e.PR, key, err)
	case err != nil:
		return "", err
	case !verdict.Allowed:
		return refusedNote(profile, verdict), nil
	}
	return fmt.Sprintf("accepted %s as %s", profile, row.ID), nil
}

// request is what every wish from a pull request has in common; the actor's permission is asked now, not believed.
func (d *Desk) request(ctx context.Context, pr store.PullRequest, actor string) (policy.Request, error) {
	permission, err := d.github.Permission(ctx, pr.Installation, pr.Repo, actor)
	if err != nil {
		return policy.Request{}, fmt.Errorf("ask permission of %s on %s: %w", actor, pr.Repo, err)
	}
	own := d.ownership(pr.Repo)
	principal := policy.Principal{ID: principalID(actor), Name: actor, Role: policy.Requester}
	if own.Team != "" {
		principal.Teams = []string{own.Team}
		if own.Owner == "" {
			own.Owner = actor
		}
	}
	return policy.Request{
		Principal: principal, Permission: permission, Ownership: own,
		PR: &policy.PullRequest{
			Repo: pr.Repo, Number: pr.Number, Author: pr.Author, Fork: pr.Fork, Head: pr.Head, Base: pr.Base,
		},
	}, nil
}

func (d *Desk) sayConflict(ctx context.Context, pr store.PullRequest, cause string, conflict error) (string, error) {
	err := d.store.SaveReply(ctx, store.Reply{
		Cause: cause, Installation: pr.Installation, Repo: pr.Repo, Number: pr.Number, Body: conflict.Error(),
	})
	if err != nil {
		return "", fmt.Errorf("answer: %w", err)
	}
	return conflict.Error(), nil
}

func refusedNote(profile string, v policy.Verdict) string {
	var why []string
	for _, check := range v.Refusals() {
		why = append(why, check.Words)
	}
	return "refused " + profile + ": " + strings.Join(why, " ")
}

func principalID(login string) string { return "github:" + login }
