package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// maxReason bounds what the audit trail keeps of a reason.
const maxReason = 500

// Abandon gives up waiting for a blocked teardown: a platform admin's act, with a reason, in the audit trail. The teardown
// goes on; name, quota, cost and finding stay until a count of zero. It returns the cluster as it stands.
func (d *Desk) Abandon(ctx context.Context, p policy.Principal, id, reason string) (store.Row, error) {
	row, err := d.seen(ctx, p, id)
	if err != nil {
		return store.Row{}, err
	}
	if !p.May(policy.ActAbandon, row.Team) {
		return store.Row{}, fail(Denied, "Only a platform admin may abandon a teardown; your role is %s. "+
			"Free what is left, or ask an admin.", p.Role())
	}
	if reason, err = reasoned(reason); err != nil {
		return store.Row{}, err
	}
	err = d.store.Abandon(ctx, id, store.Deed{Actor: p.ID, Why: reason})
	if errors.Is(err, store.ErrConflict) {
		return store.Row{}, fail(Conflict, "%s is %s (%s): only a cluster whose teardown is blocked (destroy_blocked), and that nobody "+
			"wants any more, can be abandoned. Destroy it first, and look again once it is blocked.", row.Name, row.Status, row.Phase)
	}
	return d.after(ctx, id, err)
}

// RetryTeardown asks for the next teardown now instead of when it is due: once what was in its way is freed. The cluster's
// team and platform admins may. It returns the cluster as it stands.
func (d *Desk) RetryTeardown(ctx context.Context, p policy.Principal, id, reason string) (store.Row, error) {
	row, err := d.seen(ctx, p, id)
	if err != nil {
		return store.Row{}, err
	}
	if !p.May(policy.ActRetry, row.Team) {
		return store.Row{}, fail(Denied, "The cluster's team and platform admins may ask for its next teardown; your role is %s. "+
			"Ask team %s.", p.Role(), row.Team)
	}
	if reason, err = reasoned(reason); err != nil {
		return store.Row{}, err
	}
	err = d.store.RetryTeardown(ctx, id, store.Deed{Actor: p.ID, Why: reason})
	if errors.Is(err, store.ErrConflict) {
		return store.Row{}, fail(Conflict, "%s is %s (%s): nothing of it waits to be torn down. Destroy it first.", row.Name, row.Status, row.Phase)
	}
	return d.after(ctx, id, err)
}

// after is the cluster as it stands after a change.
func (d *Desk) after(ctx context.Context, id string, err error) (store.Row, error) {
	if err != nil {
		return store.Row{}, fmt.Errorf("change cluster: %w", err)
	}
	row, err := d.store.Cluster(ctx, id)
	if err != nil {
		return store.Row{}, fmt.Errorf("read cluster: %w", err)
	}
	return row, nil
}

// reasoned is the reason as the audit trail keeps it.
func reasoned(reason string) (string, error) {
	reason = strings.TrimSpace(strings.ReplaceAll(reason, "\x00", ""))
	if reason == "" || len(reason) > maxReason {
		return "", &Error{Kind: Invalid, Message: "Say why, for the audit trail.", Fields: []Field{
			{Name: "reason", Detail: fmt.Sprintf("it has %d bytes", len(reason)), Accept: []string{
				fmt.Sprintf("1 to %d bytes, e.g. what was freed, or the ticket that says it cannot be", maxReason)}},
		}}
	}
	return reason, nil
}
