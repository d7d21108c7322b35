package pulls

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// listLive returns the clusters of a pull request whose desired state is present.
func (s *Service) listLive(ctx context.Context, repo string, number int) ([]clusters.Row, error) {
	rows, _, err := s.store.List(ctx, store.Filter{Repo: repo, Number: number, Live: true, Limit: 500})
	if err != nil {
		return nil, fmt.Errorf("list clusters of %s#%d: %w", repo, number, err)
	}
	return slices.DeleteFunc(rows, func(r clusters.Row) bool { return r.Desired != lifecycle.Present }), nil
}

// whyClosed returns why the pull request counts as closed, or did.
func whyClosed(e PullRequestEvent, row clusters.Row) lifecycle.Reason {
	switch {
	case e.PR.Open && e.Archived:
		return lifecycle.Reason{Code: lifecycle.ReasonRepoArchived, Name: e.PR.Repo}
	case e.PR.Open && e.PR.Draft:
		return lifecycle.Reason{Code: lifecycle.ReasonPRDraft}
	case e.PR.Open:
		return row.Ends.WhyClosed()
	case e.PR.Merged:
		return lifecycle.Reason{Code: lifecycle.ReasonPRMerged}
	}
	return lifecycle.Reason{Code: lifecycle.ReasonPRClosed}
}

// setEnd sets a reversible end after the cluster's grace. why is the reason.
func (s *Service) setEnd(ctx context.Context, row clusters.Row, kind clusters.EndKind, why lifecycle.Reason, by actor) (note string, err error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return "", fmt.Errorf("read the clock: %w", err)
	}
	return s.setEndAt(ctx, setEnd{row, kind, now.Add(row.Spec.Grace), why}, by)
}

// setEndAt sets a reversible end.
func (s *Service) setEndAt(ctx context.Context, a setEnd, by actor) (note string, err error) {
	whose, err := s.auditActor(ctx, by)
	if err != nil {
		return "", err
	}
	if err := s.store.SetEnd(ctx, a.row.ID, a.kind, &a.at, a.why, whose); err != nil {
		return "", fmt.Errorf("set end of %s: %w", a.row.ID, err)
	}
	return fmt.Sprintf("%s ends %s: %s", a.row.Name, a.at.UTC().Format(time.RFC3339), a.why), nil
}

// liftEnd lifts a reversible end. why is what is true now, for the audit trail; empty: the reason for the end is gone.
func (s *Service) liftEnd(ctx context.Context, row clusters.Row, kind clusters.EndKind, why string, by actor) error {
	whose, err := s.auditActor(ctx, by)
	if err != nil {
		return err
	}
	if err := s.store.SetEnd(ctx, row.ID, kind, nil, lifecycle.Noted(why), whose); err != nil {
		return fmt.Errorf("lift end of %s: %w", row.ID, err)
	}
	return nil
}
