package clusters

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// HandoverState is the state of an offer of a cluster to a person. All but offered are final.
type HandoverState string

// The states.
const (
	HandoverOffered   HandoverState = "offered"
	HandoverAccepted  HandoverState = "accepted"
	HandoverDeclined  HandoverState = "declined"  // by the person to whom it was offered
	HandoverWithdrawn HandoverState = "withdrawn" // by somebody who may give the cluster away, or because it goes or was given away
	HandoverExpired   HandoverState = "expired"
)

// HeldBy is the principal whose cluster c is: whoever accepted it last, else whoever requested it.
const HeldBy = `coalesce(
	(SELECT h.decided_by FROM handovers h WHERE h.cluster_id = c.id AND h.state = 'accepted' ORDER BY h.decided_at DESC LIMIT 1), c.requested_by)`

// EndHandover ends an offer whose cluster's row this change has locked. ErrConflict: it is no longer offered.
func EndHandover(ctx context.Context, c *db.Tx, id string, state HandoverState, d Origin) error {
	type ended struct{ Cluster string }
	over, err := db.All[ended](ctx, c, `
		UPDATE handovers SET state = @state, decided_at = @now, decided_by = @by, note = @why, from_claims = NULL
		WHERE id = @id AND state = 'offered' AND expires_at > @now RETURNING cluster_id AS cluster`,
		pgx.NamedArgs{"id": id, "state": state, "now": c.Now, "by": d.Actor, "why": d.Why})
	if err != nil {
		return fmt.Errorf("end the handover %s: %w", id, err)
	}
	if len(over) == 0 {
		return fmt.Errorf("%w: the handover is no longer offered", db.ErrConflict)
	}
	if err := NewVersion(ctx, c, over[0].Cluster); err != nil { // its thread tells it
		return err
	}
	return RecordAction(c, d, "handover_"+string(state), over[0].Cluster, Action{Before: HandoverOffered, After: state, Note: id})
}

// WithdrawHandover ends the open offer of a cluster, if there is one. The cluster's row is locked.
func WithdrawHandover(ctx context.Context, c *db.Tx, cluster string, d Origin) error {
	if _, err := closeHandovers(ctx, c, cluster); err != nil { // one that expired was not withdrawn
		return err
	}
	open, err := db.All[struct{ ID string }](ctx, c, `SELECT id FROM handovers WHERE cluster_id = $1 AND state = 'offered'`, cluster)
	if err != nil {
		return fmt.Errorf("look for a handover: %w", err)
	}
	for _, h := range open {
		if err := EndHandover(ctx, c, h.ID, HandoverWithdrawn, d); err != nil {
			return err
		}
	}
	return nil
}

// closeHandovers closes the offers that nobody can accept any more, of one cluster or of all: expired ones, and those of clusters that
// go.
func closeHandovers(ctx context.Context, c *db.Tx, cluster string) (n int, err error) {
	type closed struct {
		ID, Cluster string
		State       HandoverState
		Why         lifecycle.Reason
	}
	over, err := db.All[closed](ctx, c, `
		SELECT h.id, h.cluster_id AS cluster, CASE WHEN h.expires_at <= @now THEN 'expired' ELSE 'withdrawn' END AS state, c.desired_why AS why
		FROM handovers h JOIN clusters c ON c.id = h.cluster_id WHERE h.state = 'offered' AND (@cluster = '' OR h.cluster_id = @cluster)
			AND (c.desired = 'absent' OR h.expires_at <= @now) FOR NO KEY UPDATE OF h`, pgx.NamedArgs{"now": c.Now, "cluster": cluster})
	if err != nil {
		return 0, fmt.Errorf("find the handovers that are over: %w", err)
	}
	for _, h := range over {
		why := "nobody accepted it in time"
		if h.State == HandoverWithdrawn {
			why = Unwanted + h.Why.String()
		}
		if _, err := c.Exec(ctx, `UPDATE handovers SET decided_at = $2, decided_by = $3, from_claims = NULL, state = $4, note = $5 WHERE id = $1`,
			h.ID, c.Now, db.Lifecycle, h.State, why); err != nil {
			return 0, fmt.Errorf("close handover %s: %w", h.ID, err)
		}
		d := Origin{Actor: db.Lifecycle, Why: why}
		if err := RecordAction(c, d, "handover_"+string(h.State), h.Cluster, Action{Before: HandoverOffered, After: h.State, Note: h.ID}); err != nil {
			return 0, err
		}
	}
	return len(over), nil
}
