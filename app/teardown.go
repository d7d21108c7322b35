package app

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// Abandon gives up waiting for a blocked teardown: only for a platform admin, with a reason, in the audit trail. The teardown
// goes on; name, quota, cost and finding stay until nothing is left. It returns the current cluster.
func (s *Service) Abandon(ctx context.Context, p policy.Principal, ref string, origin Origin) (clusters.Row, error) {
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActAbandon, origin)
	if err != nil {
		return clusters.Row{}, err
	}
	if origin, err = CheckReason(origin, true); err != nil {
		return clusters.Row{}, err
	}
	return s.clusterAfter(ctx, row, s.store.Abandon(ctx, row.ID, s.StoreOrigin(origin, p)), fmt.Sprintf("%s is %s (%s): only a cluster whose teardown is blocked "+
		"(destroy_blocked), and that nobody wants any more, can be abandoned. Destroy it first, and look again once it is blocked.",
		row.Card.Name, row.Card.Status, row.Card.Phase))
}

// RetryTeardown starts the next teardown now instead of when it is due, e.g. once an obstacle was removed. The cluster's team
// and platform admins may do this. It returns the current cluster.
func (s *Service) RetryTeardown(ctx context.Context, p policy.Principal, ref string, origin Origin) (clusters.Row, error) {
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActRetry, origin)
	if err != nil {
		return clusters.Row{}, err
	}
	if origin, err = CheckReason(origin, true); err != nil {
		return clusters.Row{}, err
	}
	return s.clusterAfter(ctx, row, s.store.RetryTeardown(ctx, row.ID, s.StoreOrigin(origin, p)), fmt.Sprintf("%s is %s (%s): no teardown of it is waiting. Destroy it first.", row.Card.Name, row.Card.Status, row.Card.Phase))
}
