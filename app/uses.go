package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/runs"
)

// Use is a run's turn on a cluster, with the turns ahead of it.
type Use struct {
	runs.Use
	Ahead []runs.Use // the granted one first; empty if it is granted or released
	Mine  bool       // the run and the job of the principal's token asked for it
}

// Uses returns the turns on a cluster that the principal may see: the granted one, the queue, and the newest released ones. named is
// the run of a service account's token, for Use.Mine.
func (s *Service) Uses(ctx context.Context, p policy.Principal, ref string, named policy.PipelineRun) ([]Use, error) {
	row, err := s.Cluster(ctx, p, ref)
	if err != nil {
		return nil, err
	}
	return s.listUses(ctx, p, row, named)
}

func (s *Service) listUses(ctx context.Context, p policy.Principal, row clusters.Row, named policy.PipelineRun) ([]Use, error) {
	list, err := s.store.Runs.Uses(ctx, row.ID)
	if err != nil {
		return nil, fmt.Errorf("read the turns: %w", err)
	}
	run, known := s.Run(p, named)
	out := make([]Use, len(list))
	for i, use := range list {
		out[i] = Use{Use: use, Mine: known && use.Principal == p.ID && use.Key == run.Key && use.Scope == run.Scope && use.Attempt == run.Attempt && use.Job == run.Job}
		if use.State() == runs.UseWaiting {
			out[i].Ahead = slices.Clone(list[:i])
		}
	}
	return out, nil
}

// Use returns one turn on a cluster.
func (s *Service) Use(ctx context.Context, p policy.Principal, ref, id string) (Use, error) {
	row, err := s.Cluster(ctx, p, ref)
	if err != nil {
		return Use{}, err
	}
	return s.findUse(ctx, p, row, id, policy.PipelineRun{})
}

func (s *Service) findUse(ctx context.Context, p policy.Principal, row clusters.Row, id string, named policy.PipelineRun) (Use, error) {
	list, err := s.listUses(ctx, p, row, named)
	if err != nil {
		return Use{}, err
	}
	i := slices.IndexFunc(list, func(u Use) bool { return u.ID == id })
	if i < 0 {
		return Use{}, Fail(NotFound, fmt.Sprintf("There is no turn %.100s on %s. The list of its turns shows all.", id, row.Name))
	}
	return list[i], nil
}

// AskUse asks for a turn of the run whose token the principal has. fresh is false if its attempt and job have one.
func (s *Service) AskUse(ctx context.Context, p policy.Principal, ref string, named policy.PipelineRun, origin Origin) (use Use, fresh bool, err error) {
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActUse, origin)
	if err != nil {
		return Use{}, false, err
	}
	run, _, wrong := s.checkRun(p, RunRequest{PipelineRun: named}, true)
	if len(wrong) > 0 {
		return Use{}, false, &Error{Kind: Invalid, Message: "A turn belongs to the run of a pipeline, and the request's token is not the token of one.", Fields: wrong}
	}
	asked, fresh, err := s.store.Runs.AskUse(ctx, row.ID, s.refOf(run), run.Job, s.StoreOrigin(origin, p))
	switch {
	case RunRefusal(err) != nil:
		return Use{}, false, RunRefusal(err)
	case errors.Is(err, db.ErrConflict):
		return Use{}, false, Fail(Conflict, messages.Unwanted(row.Card, policy.ActUse))
	case err != nil:
		return Use{}, false, fmt.Errorf("ask for a turn: %w", err)
	}
	use, err = s.findUse(ctx, p, row, asked.ID, named)
	return use, fresh, err
}

// ReleaseUse ends a turn, or takes it out of the queue. The principal that asked for it may, and whoever may destroy the cluster. A
// turn that ended before stays as it is.
func (s *Service) ReleaseUse(ctx context.Context, p policy.Principal, ref, id string, origin Origin) (Use, error) {
	use, err := s.Use(ctx, p, ref, id)
	if err != nil {
		return Use{}, err
	}
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActUse, origin)
	if err != nil {
		return Use{}, err
	}
	_, ofRun := s.Run(p, policy.PipelineRun{})
	switch own := use.Mine || use.Principal == p.ID && !ofRun; { // a service account's token does not say which run it is of
	case own:
		origin.Why = "its run released it"
	case !p.May(policy.ActDestroy, row.Team):
		return Use{}, Fail(Denied, fmt.Sprintf("Another run asked for this turn on %s. Only that run, or somebody who may destroy the cluster, can end it.", row.Name))
	}
	if _, err := s.store.Runs.Release(ctx, row.ID, id, s.StoreOrigin(origin, p)); err != nil {
		return Use{}, fmt.Errorf("release the turn: %w", err)
	}
	return s.findUse(ctx, p, row, id, policy.PipelineRun{})
}
