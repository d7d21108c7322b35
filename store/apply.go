package store

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Apply writes a decision in one transaction: row, attempts, jobs, audit lines, and River's jobs for the effects. ErrStale: the
// row changed since the decision was made.
func (s *Store) Apply(ctx context.Context, d lifecycle.Decision, prevVersion int64) error {
	err := s.write(ctx, func(c *change) error {
		cur, err := c.lock(ctx, d.Next.ID)
		if err != nil {
			return err
		}
		if cur.Version != prevVersion {
			return ErrStale
		}
		return c.decide(ctx, cur, d)
	})
	if err != nil {
		return fmt.Errorf("apply to %s: %w", d.Next.ID, err)
	}
	return nil
}

// held is a cluster whose row this change has locked.
type held struct {
	lifecycle.Cluster
	listCents int // list price of an hour at acceptance
	machines  int // at acceptance; 0: not counted
}

// lock takes the cluster's row lock and reads the clock while it holds it.
func (c *change) lock(ctx context.Context, id string) (held, error) {
	type record struct {
		lifecycleRecord
		HourlyCents, Nodes int
		Clock              time.Time
	}
	r, err := one[record](ctx, c, `
		SELECT `+lifecycleColumns+`, c.hourly_cents, c.nodes, coalesce(@fixed::timestamptz, clock_timestamp()) AS clock
		FROM clusters c WHERE c.id = @id FOR NO KEY UPDATE`, pgx.NamedArgs{"id": id, "fixed": c.store.fixed()})
	if err != nil {
		return held{}, fmt.Errorf("lock %s: %w", id, err)
	}
	c.now = r.Clock
	return held{r.cluster(), r.HourlyCents, r.Nodes}, nil
}

// decide writes a decision to the locked row. A decision that changes nothing bumps no version, so no subscriber is updated.
func (c *change) decide(ctx context.Context, cur held, d lifecycle.Decision) error {
	acts := d.Close != nil || d.Open != "" || d.StopNow || len(d.Jobs) > 0
	if d.Close != nil {
		if err := c.closeAttempt(ctx, cur.ID, *d.Close); err != nil {
			return err
		}
	}
	if d.StopNow {
		if err := c.askToStop(ctx, cur.ID, d.StopWhy); err != nil {
			return err
		}
	}
	for _, m := range d.Jobs {
		if err := c.moveJob(ctx, cur.ID, m); err != nil {
			return err
		}
		if err := c.setAsked(ctx, cur.ID, m); err != nil {
			return err
		}
	}
	if acts || !same(cur.Cluster, d.Next) {
		if err := c.moveCluster(ctx, cur, d); err != nil {
			return err
		}
	} else if !cur.WakeAt.Equal(round(d.Next.WakeAt)) {
		if _, err := c.Exec(ctx, `UPDATE clusters SET wake_at = $2 WHERE id = $1`, cur.ID, null(d.Next.WakeAt)); err != nil {
			return fmt.Errorf("set the wake-up of %s: %w", cur.ID, err)
		}
	}
	c.effects(cur.ID, d.Effects)
	return nil
}

// moveCluster stores the next row and everything that follows from the move.
func (c *change) moveCluster(ctx context.Context, cur held, d lifecycle.Decision) error {
	version, err := c.updateCluster(ctx, cur, d.Next)
	if err != nil {
		return err
	}
	opened := 0
	if d.Open != "" {
		if opened, err = c.openAttempt(ctx, cur.ID, d.Open, d.OpenJob); err != nil {
			return err
		}
	}
	if d.Close != nil { // a new fact: the cluster has to be reconciled again
		if err := c.requestReconcile(ctx, cur.ID); err != nil {
			return err
		}
	}
	if err := c.publish(ctx, cur.ID, version); err != nil {
		return err
	}
	if err := c.tellBlocked(ctx, cur.Cluster, d.Next); err != nil {
		return err
	}
	if cur.ReleasedAt.IsZero() && !d.Next.ReleasedAt.IsZero() {
		if err := c.planRemovals(ctx, cur.ID); err != nil {
			return err
		}
	}
	if givesCapacity(cur.Cluster, d.Next) {
		if err := c.freeCapacity(ctx, d.Next); err != nil {
			return err
		}
	}
	if stopsCounting(cur.Cluster, d.Next) {
		c.nextTurns()
	}
	if cur.Desired != d.Next.Desired {
		if _, err := c.closeOver(ctx, cur.ID); err != nil {
			return err
		}
	}
	if rateChanges(cur.Cluster, d.Next) {
		if err := c.sample(ctx, cur, d.Next); err != nil {
			return err
		}
	}
	return c.tell(ctx, cur, d, opened)
}

// tell writes the move to the audit trail and to the Ready condition. Progress alone is not a move.
func (c *change) tell(ctx context.Context, cur held, d lifecycle.Decision, opened int) error {
	moved := place(cur.Cluster) != place(d.Next) || cur.Desired != d.Next.Desired || cur.Why != d.Next.Why
	looks := d.Open == lifecycle.Create && d.Next.Phase == lifecycle.AwaitingCapacity // its attempt's row shows that
	if !moved && (d.Open == "" || looks) && d.Close == nil && !d.StopNow {
		return nil
	}
	m := move{From: place(cur.Cluster), To: place(d.Next), Why: d.Next.Why, Attempt: opened, Kind: d.Open}
	if d.Close != nil {
		m.Closed = d.Close.Number
		if !moved {
			m.Why = d.Close.Message
		}
	}
	if cur.Desired != d.Next.Desired && place(cur.Cluster) == place(d.Next) {
		m.Why = d.Next.DesiredWhy
	}
	if err := c.audit(ctx, Lifecycle, "decided", cur.ID, m); err != nil {
		return err
	}
	return c.setReady(ctx, d.Next)
}

func (c *change) updateCluster(ctx context.Context, cur held, next lifecycle.Cluster) (version int64, err error) {
	args := heartArgs(next)
	args["now"], args["coming_cents"] = c.now, coming(cur.listCents, cur.machines, next)
	err = c.QueryRow(ctx, `
		UPDATE clusters SET
			row_version = row_version + 1, updated_at = @now, status = @status, phase = @phase, why = @why,
			desired = @desired, desired_why = @desired_why, teardown = @teardown,
			end_ttl = @end_ttl, end_max = @end_max, end_pr_closed = @end_pr_closed, pr_end_why = @pr_end_why, end_label_removed = @end_label_removed,
			end_run_finished = @end_run_finished, end_claim = @end_claim,
			end_hold = @end_hold, needs_approval = @needs_approval, approve_by = @approve_by, needs_turn = @needs_turn, abandoned = @abandoned, max_tries = @max_tries, tries = @tries,
			destroy_failures = @destroy_failures, seen = @seen, retry_at = @retry_at, wake_at = @wake_at,
			ready_at = @ready_at, destroyed_at = @destroyed_at,
			fail_reason = @fail_reason, fail_message = @fail_message, fail_whose = @fail_whose, fail_next = @fail_next,
			blockers = @blockers, place = @place, progress_percent = @progress_percent, progress_step = @progress_step,
			progress_eta = @progress_eta, progress_late = @progress_late,
			workers = @workers, workers_wanted = @workers_wanted, coming_cents = @coming_cents, scale_failures = @scale_failures,
			addons_wanted = @addons_wanted, addons_done = @addons_done, addon_failures = @addon_failures
		WHERE id = @id RETURNING row_version`, args).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("update cluster %s: %w", next.ID, err)
	}
	return version, nil
}

func (c *change) effects(cluster string, effects []lifecycle.Effect) {
	for _, e := range effects {
		switch e.Kind {
		case lifecycle.Launch:
			c.enqueue(LaunchArgs{Cluster: cluster, Attempt: e.Attempt})
		case lifecycle.StopRunner:
			c.enqueue(StopArgs{Cluster: cluster, Attempt: e.Attempt})
		}
	}
}

// same reports whether two states differ only in when to look again.
func same(a, b lifecycle.Cluster) bool {
	if !slices.Equal(a.Blockers, b.Blockers) {
		return false
	}
	a.Blockers, b.Blockers = nil, nil
	a.Version, b.Version = 0, 0
	a.WakeAt, b.WakeAt = time.Time{}, time.Time{}
	for _, c := range []*lifecycle.Cluster{&a, &b} {
		for _, t := range []*time.Time{
			&c.Ends.TTL, &c.Ends.Max, &c.Ends.PRClosed, &c.Ends.LabelRemoved, &c.Ends.RunFinished, &c.Ends.Claim,
			&c.Ends.Hold, &c.ApproveBy, &c.RetryAt, &c.ReadyAt, &c.ReleasedAt, &c.Progress.ETA, &c.Progress.Late,
		} {
			*t = round(*t)
		}
	}
	return reflect.DeepEqual(a, b)
}

// round returns a time as PostgreSQL stores it: UTC, in microseconds.
func round(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Microsecond)
}
