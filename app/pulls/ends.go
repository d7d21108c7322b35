package pulls

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// labelGone is why a cluster ends whose label was removed.
const labelGone = "its label was removed"

// live returns the clusters of a pull request whose desired state is present.
func (d *Service) live(ctx context.Context, repo string, number int) ([]store.Row, error) {
	rows, _, err := d.store.List(ctx, store.Filter{Repo: repo, Number: number, Live: true, Limit: 500})
	if err != nil {
		return nil, fmt.Errorf("list clusters of %s#%d: %w", repo, number, err)
	}
	return slices.DeleteFunc(rows, func(r store.Row) bool { return r.Desired != lifecycle.Present }), nil
}

// syncEnds sets or lifts the reversible ends of one cluster.
func (d *Service) syncEnds(ctx context.Context, row store.Row, e PullRequestEvent, noDrafts bool) (notes []string, err error) {
	unlabeled, err := d.unlabeled(ctx, row, e)
	if err != nil {
		return nil, err
	}
	closed, blind := !e.PR.Open || noDrafts || e.Archived, false
	if !closed && !row.Ends.PRClosed.IsZero() && e.Action == ActionSeen {
		if blind, err = d.blind(ctx, e.PR.Repo); err != nil {
			return nil, err
		}
	}
	for _, end := range []struct {
		kind   store.EndKind
		wanted bool
		set    time.Time
		why    string
	}{
		{store.EndPRClosed, closed, row.Ends.PRClosed, closedWhy(e, row)},
		{store.EndLabelRemoved, unlabeled, row.Ends.LabelRemoved, labelGone},
	} {
		if end.wanted == !end.set.IsZero() || blind && end.kind == store.EndPRClosed {
			continue
		}
		said, err := d.move(ctx, row, end.kind, end.wanted, seenBySomebody(end.why, e.Why), e)
		if err != nil {
			return nil, err
		}
		notes = append(notes, said)
	}
	return notes, nil
}

// blind reports whether an open pull request says nothing about its cluster: anybody can see it, and the App is no longer
// installed there.
func (d *Service) blind(ctx context.Context, repo string) (bool, error) {
	installation, err := d.github.InstallationOf(ctx, repo)
	if err != nil {
		return false, fmt.Errorf("ask for the App's installation on %s: %w", repo, err)
	}
	return installation == 0, nil
}

// unlabeled reports whether somebody removed the label that a cluster was requested by. A removal by us does not count: the
// label comes back, and until then only another removal by somebody counts.
func (d *Service) unlabeled(ctx context.Context, row store.Row, e PullRequestEvent) (bool, error) {
	label := chatops.LabelPrefix + row.Profile
	switch {
	case row.Source != string(policy.SourceLabel) || slices.Contains(e.PR.Labels, label):
		return false, nil
	case e.Action == ActionUnlabeled && e.Label == label:
		return !e.own, nil
	case !row.Ends.LabelRemoved.IsZero():
		return true, nil
	}
	comes, err := d.store.Awaited(ctx, store.EffectAddLabel, e.PR.Repo, e.PR.Number, label)
	return !comes, err
}

// closedWhy returns why the pull request counts as closed, or did.
func closedWhy(e PullRequestEvent, row store.Row) string {
	switch {
	case e.PR.Open && e.Archived:
		return e.PR.Repo + archived
	case e.PR.Open && e.PR.Draft:
		return lifecycle.BecauseDraft
	case e.PR.Open:
		return cmp.Or(row.Ends.PRWhy, lifecycle.BecauseClosed)
	case e.PR.Merged:
		return lifecycle.BecauseMerged
	}
	return lifecycle.BecauseClosed
}

// seenBySomebody adds how a change became known if no event reported it.
func seenBySomebody(why, how string) string {
	if how == "" {
		return why
	}
	return why + ", " + how
}

// move sets or lifts an end.
func (d *Service) move(ctx context.Context, row store.Row, kind store.EndKind, set bool, why string, e PullRequestEvent) (note string, err error) {
	if set {
		return d.setEnd(ctx, row, kind, why, e.Actor)
	}
	return row.Name + " no longer ends because " + why, d.liftEnd(ctx, row, kind, e.Why, e.Actor)
}

// setEnd sets a reversible end after the cluster's grace. why is the reason.
func (d *Service) setEnd(ctx context.Context, row store.Row, kind store.EndKind, why, actor string) (note string, err error) {
	now, err := d.store.Now(ctx)
	if err != nil {
		return "", fmt.Errorf("read the clock: %w", err)
	}
	at := now.Add(row.Spec.Grace)
	if err := d.store.SetEnd(ctx, row.ID, kind, &at, why, whose(actor)); err != nil {
		return "", fmt.Errorf("set end of %s: %w", row.ID, err)
	}
	return fmt.Sprintf("%s ends %s: %s", row.Name, at.UTC().Format(time.RFC3339), why), nil
}

// liftEnd lifts a reversible end. why is what is true now; empty: the reason for the end is gone.
func (d *Service) liftEnd(ctx context.Context, row store.Row, kind store.EndKind, why, actor string) error {
	if err := d.store.SetEnd(ctx, row.ID, kind, nil, why, whose(actor)); err != nil {
		return fmt.Errorf("lift end of %s: %w", row.ID, err)
	}
	return nil
}

// whose returns who did something on GitHub, for the audit trail; the control plane itself if nobody is known.
func whose(login string) string {
	if login == "" {
		return store.Lifecycle
	}
	return principalID(login)
}
