package store

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/internal/pg"
	"github.com/ocpctl/ocpctl/store/internal/rows"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// Apply writes a decision in one transaction: row, attempts, jobs, audit lines, and River's jobs for the effects. ErrStale: the
// row changed since the decision was made, or no runner is free for it any more.
func (s *Store) Apply(ctx context.Context, d lifecycle.Decision, prevVersion int64) error {
	err := s.write(ctx, func(c *change) error {
		if d.Open != "" {
			if err := c.lockRunners(ctx); err != nil {
				return err
			}
		}
		cur, err := c.Lock(ctx, d.Next.ID)
		if err != nil {
			return err
		}
		if cur.Version != prevVersion {
			return pg.ErrStale
		}
		if d.Open != "" {
			if err := c.checkRunner(ctx, cur.ID, d.Open); err != nil {
				return err
			}
		}
		return c.decide(ctx, cur, d)
	})
	if errors.Is(err, pg.ErrNameTaken) { // only a released cluster gets its name back, and another was faster: that has to be decided again
		err = pg.ErrStale
	}
	if err != nil {
		return fmt.Errorf("apply to %s: %w", d.Next.ID, err)
	}
	return nil
}

// decide writes a decision to the locked row. A decision that changes nothing bumps no version, so no subscriber is updated.
func (c *change) decide(ctx context.Context, cur usage.Held, d lifecycle.Decision) error {
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
	} else if !cur.WakeAt.Equal(pg.Round(d.Next.WakeAt)) {
		if _, err := c.Exec(ctx, `UPDATE clusters SET wake_at = $2 WHERE id = $1`, cur.ID, pg.Null(d.Next.WakeAt)); err != nil {
			return fmt.Errorf("set the wake-up of %s: %w", cur.ID, err)
		}
	}
	c.effects(cur.ID, d.Effects)
	if d.Wait != nil {
		return c.queueForRunner(ctx, cur.ID, *d.Wait)
	}
	return nil
}

// moveCluster stores the next row and everything that follows from the move.
func (c *change) moveCluster(ctx context.Context, cur usage.Held, d lifecycle.Decision) error {
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
	if d.Wait == nil && cur.Place > 0 { // a cluster that waits for a runner always has a place
		if err := c.leaveRunnerQueue(ctx, cur.ID); err != nil {
			return err
		}
	}
	if d.Close != nil { // a new fact: the cluster has to be reconciled again
		if err := c.RequestReconcile(ctx, cur.ID); err != nil {
			return err
		}
	}
	if err := c.Publish(ctx, cur.ID, version); err != nil {
		return err
	}
	if err := c.tellBlocked(ctx, cur.Cluster, d.Next); err != nil {
		return err
	}
	if err := c.announce(ctx, cur.Cluster, d); err != nil {
		return err
	}
	if d.Next.Reopened > cur.Reopened {
		if err := c.StartRemoval(ctx, cur.ID); err != nil {
			return err
		}
	}
	if cur.ReleasedAt.IsZero() && !d.Next.ReleasedAt.IsZero() {
		if err := errors.Join(c.planRemovals(ctx, cur.ID), c.EndOrphans(ctx, cur.ID), c.removeOwnEnvironment(ctx, cur.ID)); err != nil {
			return err
		}
		if !d.Next.Abandoned {
			if err := c.AccessGone(ctx, cur.ID); err != nil {
				return err
			}
		}
	}
	if attempts.GivesCapacity(cur.Cluster, d.Next) {
		if err := c.FreeCapacity(ctx, d.Next); err != nil {
			return err
		}
	}
	if stopsCounting(cur.Cluster, d.Next) {
		c.NextTurns()
	}
	if cur.Desired != d.Next.Desired {
		if _, err := c.CloseOver(ctx, cur.ID); err != nil {
			return err
		}
		if _, err := c.RevokeAccess(ctx, cur.ID, rows.EveryAccess, nil, rows.Origin{Actor: pg.Lifecycle, Why: rows.AccessEnds + d.Next.DesiredWhy}); err != nil {
			return err
		}
	}
	if usage.RateChanges(cur.Cluster, d.Next) {
		if err := c.Sample(ctx, cur, d.Next); err != nil {
			return err
		}
	}
	return c.tell(ctx, cur, d, opened)
}

// tell writes the move to the audit trail and to the Ready condition. Progress alone is not a move.
func (c *change) tell(ctx context.Context, cur usage.Held, d lifecycle.Decision, opened int) error {
	moved := rows.StatusAndPhase(cur.Cluster) != rows.StatusAndPhase(d.Next) || cur.Desired != d.Next.Desired || cur.Why != d.Next.Why
	looks := d.Open == lifecycle.Create && d.Next.Phase == lifecycle.AwaitingCapacity || d.Open.Quiet() // its attempt's row shows that
	if !moved && (d.Open == "" || looks) && d.Close == nil && !d.StopNow {
		return nil
	}
	m := pg.Move{From: rows.StatusAndPhase(cur.Cluster), To: rows.StatusAndPhase(d.Next), Why: d.Next.Why, Attempt: opened, Kind: d.Open}
	if d.Close != nil {
		m.Closed = d.Close.Number
		if !moved {
			m.Why = d.Close.Message
		}
	}
	if cur.Desired != d.Next.Desired && rows.StatusAndPhase(cur.Cluster) == rows.StatusAndPhase(d.Next) {
		m.Why = d.Next.DesiredWhy
	}
	if err := c.Record(ctx, pg.Lifecycle, "decided", cur.ID, m); err != nil {
		return err
	}
	return c.setReady(ctx, d.Next)
}

func (c *change) updateCluster(ctx context.Context, cur usage.Held, next lifecycle.Cluster) (version int64, err error) {
	args := rows.LifecycleArgs(next)
	args["now"], args["coming_cents"] = c.Now, cur.Coming(next)
	err = c.QueryRow(ctx, `
		UPDATE clusters SET
			row_version = row_version + 1, updated_at = @now, status = @status, phase = @phase, why = @why,
			desired = @desired, desired_why = @desired_why, teardown = @teardown,
			end_ttl = @end_ttl, end_max = @end_max, end_pr_closed = @end_pr_closed, pr_end_why = @pr_end_why, end_label_removed = @end_label_removed,
			end_run_finished = @end_run_finished, run_end_why = @run_end_why, end_claim = @end_claim,
			end_hold = @end_hold, needs_approval = @needs_approval, approve_by = @approve_by, needs_turn = @needs_turn, abandoned = @abandoned, max_tries = @max_tries, tries = @tries,
			destroy_failures = @destroy_failures, seen = @seen, retry_at = @retry_at, wake_at = @wake_at,
			ready_at = @ready_at, destroyed_at = @destroyed_at, reopened_at = @reopened_at, reopened = @reopened,
			fail_reason = @fail_reason, fail_message = @fail_message, fail_whose = @fail_whose, fail_next = @fail_next,
			blockers = @blockers, stuck_reason = @stuck_reason, stuck_whose = @stuck_whose, stuck_next = @stuck_next, place = @place, progress_percent = @progress_percent, progress_step = @progress_step,
			progress_eta = @progress_eta, progress_late = @progress_late,
			workers = @workers, workers_wanted = @workers_wanted, coming_cents = @coming_cents, scale_failures = @scale_failures,
			addons_wanted = @addons_wanted, addons_done = @addons_done, addon_failures = @addon_failures,
			warned_end = @warned_end, warned_before = @warned_before,
			access_wanted = @access_wanted, access_done = @access_done, access_failures = @access_failures, access_retry_at = @access_retry_at,
			sleep_wanted = @sleep_wanted, sleep_until = @sleep_until, sleep_why = @sleep_why, power = @power,
			degraded = @degraded, sleep_failures = @sleep_failures, sleep_retry_at = @sleep_retry_at,
			power_by = @power_by, awake_until = @awake_until, active_at = @active_at, active_what = @active_what, hours_at = @hours_at, rest_at = @rest_at, rest_warned = @rest_warned,
			awake_since = @awake_since, idle_told = @idle_told, end_idle = @end_idle,
			observed_at = @observed_at, observe_failures = @observe_failures, observe_failed_at = @observe_failed_at, tagged_at = @tagged_at
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
			c.Enqueue(queue.LaunchArgs{Cluster: cluster, Attempt: e.Attempt})
		case lifecycle.StopRunner:
			c.Enqueue(queue.StopArgs{Cluster: cluster, Attempt: e.Attempt})
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
			&c.Ends.TTL, &c.Ends.Max, &c.Ends.PRClosed, &c.Ends.LabelRemoved, &c.Ends.RunFinished, &c.Ends.Claim, &c.Ends.Idle,
			&c.Ends.Hold, &c.ApproveBy, &c.RetryAt, &c.ReadyAt, &c.ReleasedAt, &c.ReopenedAt, &c.Progress.ETA, &c.Progress.Late, &c.WarnedEnd, &c.AccessRetryAt, &c.SleepUntil, &c.SleepRetryAt,
			&c.AwakeUntil, &c.ActiveAt, &c.HoursAt, &c.RestAt, &c.RestWarned, &c.AwakeSince, &c.IdleTold, &c.ObservedAt, &c.ObserveFailedAt, &c.TaggedAt,
		} {
			*t = pg.Round(*t)
		}
	}
	return reflect.DeepEqual(a, b)
}
