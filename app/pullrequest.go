package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/store"
)

// The actions of GitHub that the desk tells apart.
const (
	ActionOpened    = "opened"
	ActionReopened  = "reopened"
	ActionLabeled   = "labeled"
	ActionUnlabeled = "unlabeled"
)

// PullRequestEvent is one thing that happened to a pull request, or a look at it (any other action).
type PullRequestEvent struct {
	PR      store.PullRequest
	Actor   string // login of who did it
	ActorID int64  // GitHub's own number of them
	Action  string // GitHub's action
	Label   string // the label of a labeled or unlabeled action
}

// SyncPullRequest makes the clusters of a pull request follow its labels and its state. It is level-triggered: the
// same event twice, or an older one late, changes nothing. The note says in words what was done.
func (d *Desk) SyncPullRequest(ctx context.Context, e PullRequestEvent) (note string, err error) {
	e.Label, e.PR.Labels = spelt(e.Label), each(e.PR.Labels, spelt)
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
		moved, err = d.rebind(ctx, row, e.PR.Head)
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

// settle looks at the pull request once more after a wish was written. An event that closed it, took the label off or pushed
// to it may have been processed in between, when there was no cluster yet whose end it could set and whose approval it could
// make void; either it or this sees both.
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
		if moved, err = d.rebind(ctx, row, pr.Head); err != nil {
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

// spelt gives a label of ours the one spelling we compare by; GitHub's labels do not differ by case alone.
func spelt(label string) string {
	if lower := strings.ToLower(label); strings.HasPrefix(lower, chatops.LabelPrefix) {
		return lower
	}
	return label
}

func each(labels []string, change func(string) string) []string {
	out := make([]string, 0, len(labels))
	for _, l := range labels {
		out = append(out, change(l))
	}
	return out
}
