package app

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
)

// Actions returns every verb on a cluster, each possible for the principal now or with its obstacle.
func (s *Service) Actions(ctx context.Context, p policy.Principal, row clusters.Row) ([]policy.Action, error) {
	held, err := s.shareOf(ctx, p, row)
	if err != nil {
		return nil, fmt.Errorf("look for a role in %s: %w", row.ID, err)
	}
	ofRun, err := s.ownsCluster(ctx, p, row)
	if err != nil {
		return nil, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	actions := policy.Actions(row.Card, RightsOn(p, row, held, ofRun), now)
	if row.NeedsApproval {
		return actions, s.judgeVotes(ctx, p, row, actions)
	}
	return actions, nil
}

// judgeVotes sets what keeps the principal from approving a cluster that waits for it: the approval says whose votes count.
func (s *Service) judgeVotes(ctx context.Context, p policy.Principal, row clusters.Row, actions []policy.Action) error {
	waiting, _, err := s.store.Approvals(ctx, store.ApprovalFilter{Cluster: row.ID, Kind: clusters.ApproveCreate, State: clusters.ApprovalPending, Limit: 1})
	if err != nil {
		return fmt.Errorf("read the approval of %s: %w", row.ID, err)
	}
	obstacle := policy.NotWaiting
	if len(waiting) > 0 {
		obstacle = obstacleToVote(p, waiting[0])
	}
	for i, a := range actions {
		if a.Act == policy.ActApprove && (a.Obstacle == "" || a.Obstacle == policy.NotPermitted) {
			actions[i].Obstacle = obstacle
		}
	}
	return nil
}

// RightsOn returns the rights of a principal on a cluster, by its roles, by what it holds of the cluster and as the run that requested it. They
// are those that Authorize asks for.
func RightsOn(p policy.Principal, row clusters.Row, held people.Share, ofRun bool) func(policy.Act) bool {
	target := policy.Target{
		Name: row.Name, Team: row.Team, HoldsKeys: row.Spec.CredentialsMode == minted, Access: policy.Access(held.Access), OfRun: ofRun, Role: policy.ClusterRole(held.Role),
		Pool: waitsIn(row),
	}
	return func(act policy.Act) bool {
		return policy.Authorize(policy.Request{Principal: p}, act, &target).Allowed
	}
}

// waitsIn returns the pool in which a cluster waits to be claimed; empty: in none.
func waitsIn(row clusters.Row) string {
	if row.WaitsInPool() {
		return row.Pool
	}
	return ""
}

// obstacleTo returns what in the cluster's state keeps a verb from being carried out: what Actions shows beforehand.
func obstacleTo(verb policy.Verb, row clusters.Row) policy.Obstacle {
	return policy.ObstacleTo(verb, row.Card, row.UpdatedAt)
}
