package clusters

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// FreeCapacity notes that the cluster gave capacity back, if it did, and wakes the queue.
func FreeCapacity(ctx context.Context, c *db.Tx, next lifecycle.Cluster) error {
	type room struct{ Account, Region string }
	freed, err := db.All[room](ctx, c, `
		UPDATE reservations r SET freed_at = @now FROM attempts a
		WHERE r.cluster_id = @cluster AND a.id = r.attempt_id AND CASE r.state
			WHEN 'waiting' THEN @unwanted AND coalesce(r.freed_at < r.asked_at, true)
			ELSE @less OR (a.closed_at IS NOT NULL AND a.recorded_at IS NULL AND coalesce(r.freed_at < r.asked_at, true)) END
		RETURNING r.account, r.region`,
		pgx.NamedArgs{
			"cluster": next.ID, "now": c.Now, "unwanted": next.Desired == lifecycle.Absent,
			"less": next.Status == lifecycle.Ready || next.Status == lifecycle.Destroyed,
		})
	if err != nil {
		return fmt.Errorf("note the room that %s gave back: %w", next.ID, err)
	}
	for _, r := range freed {
		AdvanceCapacityQueue(c, r.Account, r.Region)
	}
	return NeverAsked(ctx, c, next.ID)
}

// AdvanceCapacityQueue wakes the clusters in the queue. News is unique, so that a change during the run gets a run of its own.
func AdvanceCapacityQueue(c *db.Tx, account, region string) {
	c.Enqueue(queue.CapacityQueueArgs{Account: account, Region: region, News: ulid.Make().String()})
}

// NeverAsked wakes the queue if clusters in it counted on one of their team that will no longer ask for capacity.
func NeverAsked(ctx context.Context, c *db.Tx, cluster string) error {
	type room struct{ Account, Region string }
	lines, err := db.All[room](ctx, c, `
		SELECT DISTINCT r.account, r.region FROM clusters c JOIN clusters w ON w.team = c.team AND w.region = c.region AND (-w.priority, w.created_at, w.id) > (-c.priority, c.created_at, c.id)
			JOIN reservations r ON r.cluster_id = w.id AND r.state = 'waiting'
		WHERE c.id = $1 AND NOT EXISTS (SELECT FROM reservations own WHERE own.cluster_id = c.id)`, cluster)
	if err != nil {
		return fmt.Errorf("find the line that %s would have stood in: %w", cluster, err)
	}
	for _, l := range lines {
		AdvanceCapacityQueue(c, l.Account, l.Region)
	}
	return nil
}

const (
	Granted = "granted"
	Waiting = "waiting"
)

// Reservation is a cluster's row; State is empty if there is none.
type Reservation struct{ Attempt, Account, Region, State string }

func ReadReservation(ctx context.Context, c *db.Tx, args pgx.NamedArgs) (Reservation, error) {
	rows, err := db.All[Reservation](ctx, c, `
		SELECT attempt_id AS attempt, account, region, state FROM reservations WHERE cluster_id = @cluster`, args)
	if err != nil || len(rows) == 0 {
		return Reservation{}, err
	}
	return rows[0], nil
}
