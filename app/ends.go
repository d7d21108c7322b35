package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

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
	labelGone := row.Door == string(policy.DoorLabel) && !slices.Contains(e.PR.Labels, chatops.LabelPrefix+row.Profile)
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
