package pulls

import (
	"context"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// replaceCluster ends a cluster of an older commit and requests its successor on behalf of whoever pushed, judged like any
// request. A cluster that the push may not end, because it was transferred to another team, stays.
func (s *Service) replaceCluster(ctx context.Context, e PullRequestEvent, request policy.Request, a replaceCluster) (note string, err error) {
	row := a.row
	w, err := s.successorRequest(ctx, e, row) // before it ends: if the successor cannot be requested yet, nothing ends
	if err != nil {
		return "", err
	}
	if a.destroy {
		origin := app.Origin{Source: policy.Source(row.Source), Instead: a.why, Repository: &request}
		if _, _, err := s.core.Authorize(ctx, request.Principal, row.ID, policy.ActDestroy, origin); app.KindOf(err) != "" {
			return row.Name + " is kept as it is: " + err.Error(), nil
		} else if err != nil {
			return "", err
		}
		if err := s.leaveLabel(ctx, row); err != nil {
			return "", err
		}
		if _, _, err := s.core.Destroy(ctx, request.Principal, row.ID, origin); err != nil {
			return "", err
		}
	}
	if note, err = s.requestAgain(ctx, e, w); err != nil {
		return "", err
	}
	return row.Name + " goes: " + a.why.String() + "; " + note, nil
}

// leaveLabel keeps the end of a replaced cluster from removing the label: only its successor's end or refusal does that.
func (s *Service) leaveLabel(ctx context.Context, row clusters.Row) error {
	places, err := s.store.Outbox.Subscribers(ctx, row.ID)
	if err != nil {
		return fmt.Errorf("look for the label of %s: %w", row.ID, err)
	}
	for _, place := range places {
		if place.Kind == clusters.KindLabel {
			return s.store.Outbox.Mute(ctx, place.ID)
		}
	}
	return nil
}

// successorRequest returns the request for the next generation of a cluster that a push ends.
func (s *Service) successorRequest(ctx context.Context, e PullRequestEvent, row clusters.Row) (app.ClusterRequest, error) {
	request, err := s.newRequest(ctx, policy.Source(row.Source), e.PR, e.actorOf())
	if err != nil {
		return app.ClusterRequest{}, err
	}
	w, err := s.requestAlike(ctx, request, e.PR, row)
	if err != nil {
		return app.ClusterRequest{}, err
	}
	w.Request.Generation = row.Generation + 1
	// A head may be pushed again later: that is another request.
	key := fmt.Sprintf("push:%s#%d:%s:%s:%d", e.PR.Repo, e.PR.Number, row.Profile, e.PR.Head, w.Request.Generation)
	w.Actor, w.Key, w.Cause, w.AskedAt = e.Actor, key, key, e.PR.UpdatedAt
	if label := chatops.LabelPrefix + row.Profile; row.Source == string(policy.SourceLabel) || slices.Contains(e.PR.Labels, label) {
		w.Label, w.OnRefusal = label, []clusters.Effect{removeLabelEffect(e.PR, label, key)}
	}
	return w, nil
}

// requestAgain requests the next generation of a cluster that a push ended.
func (s *Service) requestAgain(ctx context.Context, e PullRequestEvent, w app.ClusterRequest) (note string, err error) {
	made, err := s.core.CreateFrom(ctx, w)
	switch {
	case app.KindOf(err) != "":
		for _, effect := range w.OnRefusal {
			if err := s.store.Outbox.SaveEffect(ctx, effect); err != nil {
				return "", fmt.Errorf("take the label off: %w", err)
			}
		}
		return err.Error(), s.replyOnce(ctx, e.PR, w.Key, chatops.Said(err.Error(), e.Actor))
	case err != nil:
		return "", err
	case made.Row.ID == "":
		return refusalNote(w.Request.Profile, made.Verdict), nil
	}
	if len(w.OnRefusal) > 0 && made.Row.Source != string(policy.SourceLabel) {
		if err := s.store.Outbox.ShowByLabel(ctx, made.Row.ID); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("accepted %s as %s", w.Request.Profile, made.Row.ID), s.keepNew(ctx, e.PR, w.Request, made.Row)
}

// refreshAddons applies the add-ons of a cluster of an older commit again, once for each head. A cluster that is not ready yet
// gets them with its install.
func (s *Service) refreshAddons(ctx context.Context, e PullRequestEvent, request policy.Request, a refreshAddons) (note string, err error) {
	origin := app.Origin{Source: request.Source, Why: a.why, Cause: "push:" + e.PR.Head, Repository: &request}
	_, job, err := s.core.Refresh(ctx, request.Principal, a.row.ID, origin)
	switch {
	case app.KindOf(err) != "":
		return a.row.Name + " is kept as it is: " + err.Error(), nil
	case err != nil:
		return "", err
	}
	return fmt.Sprintf("%s: its add-ons are applied again: %s (job %s)", a.row.Name, a.why, job), nil
}
