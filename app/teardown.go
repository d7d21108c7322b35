package app

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// Abandon gives up waiting for a blocked teardown: only for a platform admin, with a reason, in the audit trail. The teardown
// goes on; name, quota, cost and finding stay until nothing is left. It returns the current cluster.
func (d *Service) Abandon(ctx context.Context, p policy.Principal, ref string, origin Origin) (store.Row, error) {
	row, origin, err := d.Authorize(ctx, p, ref, policy.ActAbandon, origin)
	if err != nil {
		return store.Row{}, err
	}
	if origin, err = CheckReason(origin, true); err != nil {
		return store.Row{}, err
	}
	return d.after(ctx, row, d.store.Abandon(ctx, row.ID, d.StoreOrigin(origin, p)), fmt.Sprintf("%s is %s (%s): only a cluster whose teardown is blocked "+
		"(destroy_blocked), and that nobody wants any more, can be abandoned. Destroy it first, and look again once it is blocked.",
		row.Name, row.Status, row.Phase))
}

// RetryTeardown starts the next teardown now instead of when it is due, e.g. once an obstacle was removed. The cluster's team
// and platform admins may do this. It returns the current cluster.
func (d *Service) RetryTeardown(ctx context.Context, p policy.Principal, ref string, origin Origin) (store.Row, error) {
	row, origin, err := d.Authorize(ctx, p, ref, policy.ActRetry, origin)
	if err != nil {
		return store.Row{}, err
	}
	if origin, err = CheckReason(origin, true); err != nil {
		return store.Row{}, err
	}
	return d.after(ctx, row, d.store.RetryTeardown(ctx, row.ID, d.StoreOrigin(origin, p)), fmt.Sprintf("%s is %s (%s): nothing of it waits to be torn down. "+
		"Destroy it first.", row.Name, row.Status, row.Phase))
}
