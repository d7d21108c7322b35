package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
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
			return db.ErrStale
		}
		if d.Open != "" {
			if err := c.checkRunner(ctx, cur.ID, d.Open); err != nil {
				return err
			}
		}
		return c.decide(ctx, cur, d)
	})
	if errors.Is(err, db.ErrNameTaken) { // only a released cluster gets its name back, and another was faster: that has to be decided again
		err = db.ErrStale
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
	if acts || !clusters.SameState(cur.Cluster, d.Next) {
		if err := c.moveCluster(ctx, cur, d); err != nil {
			return err
		}
	} else if !cur.WakeAt.Equal(db.Round(d.Next.WakeAt)) {
		if _, err := c.Exec(ctx, `UPDATE clusters SET wake_at = $2 WHERE id = $1`, cur.ID, db.Null(d.Next.WakeAt)); err != nil {
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
		if opened, err = c.openAttempt(ctx, cur.ID, d); err != nil {
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
		if _, err := c.RevokeAccess(ctx, cur.ID, clusters.EveryAccess, nil, clusters.Origin{Actor: db.Lifecycle, Why: clusters.AccessEnds + d.Next.DesiredWhy}); err != nil {
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
	moved := clusters.StatusAndPhase(cur.Cluster) != clusters.StatusAndPhase(d.Next) || cur.Desired != d.Next.Desired || cur.Why != d.Next.Why
	looks := d.Open == lifecycle.Create && d.Next.Phase == lifecycle.AwaitingCapacity || d.Quiet // its attempt's row shows that
	if !moved && (d.Open == "" || looks) && d.Close == nil && !d.StopNow {
		return nil
	}
	m := db.Move{From: clusters.StatusAndPhase(cur.Cluster), To: clusters.StatusAndPhase(d.Next), Why: d.Next.Why, Attempt: opened, Kind: d.Open}
	if d.Close != nil {
		m.Closed = d.Close.Number
		if !moved {
			m.Why = d.Close.Message
		}
	}
	if cur.Desired != d.Next.Desired && clusters.StatusAndPhase(cur.Cluster) == clusters.StatusAndPhase(d.Next) {
		m.Why = d.Next.DesiredWhy
	}
	if err := c.Record(ctx, db.Lifecycle, "decided", cur.ID, m); err != nil {
		return err
	}
	return c.setReady(ctx, d.Next)
}

func (c *change) updateCluster(ctx context.Context, cur usage.Held, next lifecycle.Cluster) (version int64, err error) {
	args := clusters.LifecycleArgs(next)
	args["now"], args["coming_cents"], args["changed_work"] = c.Now, cur.Coming(next), clusters.ChangedWork(cur.Cluster, next)
	err = c.QueryRow(ctx, `
		UPDATE clusters SET
			row_version = row_version + 1, updated_at = @now, coming_cents = @coming_cents, `+clusters.UpdateColumns+`
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
