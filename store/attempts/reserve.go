package attempts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// CapacityDemand is what an install needs of the limits of an account and region, as just measured.
type CapacityDemand struct {
	Account, Region string
	Quotas          []lifecycle.Quota
}

// ReservationAnswer answers a demand. Wait and Never empty: the capacity is reserved.
type ReservationAnswer struct {
	Wait     string // why there is no capacity now
	Position int    // in the queue while it waits, 1 is next
	Never    string // why an empty account would not have the capacity either
}

// Reserve reserves capacity for the attempt's install, or puts its cluster into the queue. One demand per account and region is
// judged at a time, so that installs that start together never count on the same capacity. An attempt that was granted a demand
// is granted it again. A lease that says stop grants nothing.
func (s *Store) Reserve(ctx context.Context, attemptID, tokenID string, d CapacityDemand) (room ReservationAnswer, lease Lease, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) (err error) {
		f, err := LockAttempt(ctx, c, attemptID, tokenID)
		switch {
		case err != nil:
			return err
		case f.Unwanted() != "":
			lease = Lease{Stop: f.Unwanted(), Closed: f.Closed}
			return nil
		case !f.Claimed:
			return fmt.Errorf("nobody claimed the attempt: %w", db.ErrFenced)
		case f.Kind != lifecycle.Create:
			return fmt.Errorf("%w: only a create needs room", db.ErrConflict)
		}
		if err := CheckPlace(ctx, c, f, d.Account, d.Region); err != nil {
			return err
		}
		if room, err = reserve(ctx, c, f, d); err != nil {
			return err
		}
		lease = RenewLease(c, f)
		return nil
	})
	if err != nil {
		return ReservationAnswer{}, Lease{}, fmt.Errorf("reserve room for attempt %s: %w", attemptID, err)
	}
	return room, lease, nil
}

// reserve judges the demand under the lock of its account and region. Under that lock it takes no other cluster's row, because
// whoever holds one may be waiting for the lock. A separate job wakes the queue.
func reserve(ctx context.Context, c *db.Tx, f Fenced, d CapacityDemand) (ReservationAnswer, error) {
	args := pgx.NamedArgs{"account": d.Account, "region": d.Region, "cluster": f.ID, "attempt": f.AttemptID, "now": c.Now}
	if _, err := c.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('room ' || @account || ' ' || @region, 0))`, args); err != nil {
		return ReservationAnswer{}, fmt.Errorf("lock the room of %s in %s: %w", d.Account, d.Region, err)
	}
	before, err := clusters.ReadReservation(ctx, c, args)
	if err != nil || (before.State == clusters.Granted && before.Attempt == f.AttemptID) {
		return ReservationAnswer{}, err
	}
	if d.Quotas, err = attributeUsage(ctx, c, d); err != nil {
		return ReservationAnswer{}, err
	}
	held, err := listHeld(ctx, c, args)
	if err != nil {
		return ReservationAnswer{}, err
	}
	line, err := loadQueueAhead(ctx, c, args, d.Quotas)
	if err != nil {
		return ReservationAnswer{}, err
	}
	var room ReservationAnswer
	after := clusters.Reservation{Attempt: f.AttemptID, Account: d.Account, Region: d.Region, State: clusters.Granted}
	args["passed_at"] = nil
	switch room.Wait, room.Never = lifecycle.Fits(d.Quotas, held, line.all()); {
	case room.Never != "":
		room.Wait, after = "", clusters.Reservation{}
	case room.Wait != "" && mayPass(c, line) && lifecycle.FirstPast(d.Quotas, held, line.all()):
		room.Wait, args["passed_at"] = "", c.Now
		if err := c.Record(ctx, db.Lifecycle, "let_past", f.ID, db.Move{Why: line.letPast(c.DB.Options.Limits.LetPast)}); err != nil {
			return ReservationAnswer{}, err
		}
	case room.Wait != "":
		after.State, room.Position = clusters.Waiting, len(line.all())+1
		room.Wait += line.describeUnmeasured()
	}
	args["words"], args["position"] = room.Wait, room.Position
	if err := keepReservation(ctx, c, args, after, d.Quotas); err != nil {
		return ReservationAnswer{}, err
	}
	if before.State == clusters.Waiting && after.State != clusters.Waiting { // this look was not shown yet
		if err := clusters.RequestReconcile(ctx, c, f.ID); err != nil {
			return ReservationAnswer{}, err
		}
	}
	news := ulid.Make().String()
	for _, r := range []clusters.Reservation{before, after} { // the positions behind it moved
		if r.State != "" && (before.State != after.State || before.Account != after.Account) {
			c.Enqueue(queue.CapacityQueueArgs{Account: r.Account, Region: r.Region, News: news})
		}
	}
	return room, nil
}

func keepReservation(ctx context.Context, c *db.Tx, args pgx.NamedArgs, r clusters.Reservation, quotas []lifecycle.Quota) error {
	if r.State == "" {
		if _, err := c.Exec(ctx, `DELETE FROM reservations WHERE cluster_id = @cluster`, args); err != nil {
			return fmt.Errorf("drop the reservation: %w", err)
		}
		return nil
	}
	items, err := json.Marshal(quotas)
	if err != nil {
		return fmt.Errorf("encode the quotas: %w", err)
	}
	args["state"], args["items"] = r.State, items
	_, err = c.Exec(ctx, `
		INSERT INTO reservations AS r (cluster_id, attempt_id, account, region, state, items, words, position, since, asked_at, passed_at)
		VALUES (@cluster, @attempt, @account, @region, @state, @items, @words, @position, @now, @now, @passed_at)
		ON CONFLICT (cluster_id) DO UPDATE SET attempt_id = excluded.attempt_id, account = excluded.account, region = excluded.region,
			state = excluded.state, items = excluded.items, words = excluded.words, position = excluded.position,
			since = CASE WHEN r.state = excluded.state THEN r.since ELSE excluded.since END, asked_at = excluded.asked_at, passed_at = coalesce(excluded.passed_at, r.passed_at)`, args)
	if err != nil {
		return fmt.Errorf("keep the reservation: %w", err)
	}
	return nil
}

// attributeUsage returns the measured quotas with what clusters use without having tags yet: it is in a resource group with a name that was
// recorded for one of them.
func attributeUsage(ctx context.Context, c *db.Tx, d CapacityDemand) ([]lifecycle.Quota, error) {
	groups := map[string]bool{}
	for _, q := range d.Quotas {
		for name := range q.UsedIn {
			groups[name] = true
		}
	}
	if len(groups) == 0 {
		return d.Quotas, nil
	}
	recorded, err := db.All[struct{ Name, Cluster string }](ctx, c, `
		SELECT DISTINCT cco_name AS name, cluster_id AS cluster FROM attempts WHERE cco_name = ANY (@groups)`,
		pgx.NamedArgs{"groups": slices.Sorted(maps.Keys(groups))})
	if err != nil {
		return nil, fmt.Errorf("read whose resource groups are used: %w", err)
	}
	clusters := map[string]string{}
	for _, r := range recorded {
		clusters[r.Name] = r.Cluster
	}
	quotas := slices.Clone(d.Quotas)
	for i, q := range quotas {
		quotas[i] = q.Attribute(clusters)
	}
	return quotas, nil
}

// listHeld returns what counts as taken in addition to the measured usage: granted reservations of clusters that are not released, while the
// attempt that got them runs, or if it recorded an identity.
func listHeld(ctx context.Context, c *db.Tx, args pgx.NamedArgs) ([]lifecycle.Holding, error) {
	held, err := db.All[lifecycle.Holding](ctx, c, `
		SELECT r.cluster_id AS cluster, coalesce(c.ready_at, c.claimed_at) IS NOT NULL AS ready, r.items AS quotas
		FROM reservations r JOIN clusters c ON c.id = r.cluster_id JOIN attempts a ON a.id = r.attempt_id
		WHERE r.account = @account AND r.region = @region AND r.state = 'granted' AND r.cluster_id <> @cluster
			AND c.destroyed_at IS NULL AND (a.closed_at IS NULL OR a.recorded_at IS NOT NULL)`, args)
	if err != nil {
		return nil, fmt.Errorf("read what is set aside: %w", err)
	}
	return held, nil
}
