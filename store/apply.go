package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/brakes"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Apply writes a decision in one transaction: row, attempts, jobs, audit lines, and River's jobs for the effects. ErrStale: the
// row changed since the decision was made, no runner is free for it any more, or a brake keeps its create from beginning.
func (s *Store) Apply(ctx context.Context, d lifecycle.Decision, prevVersion int64) error {
	err := s.Write(ctx, func(c *db.Tx) error {
		if d.Open != "" {
			if err := lockRunners(ctx, c); err != nil {
				return err
			}
		}
		cur, err := clusters.Lock(ctx, c, d.Next.ID)
		if err != nil {
			return err
		}
		if cur.Version != prevVersion {
			return db.ErrStale
		}
		if d.Open != "" {
			if err := checkRunner(ctx, c, cur.ID, d.Open); err != nil {
				return err
			}
			if err := checkBrake(ctx, c, cur.ID, d.Open); err != nil {
				return err
			}
		}
		return decide(ctx, c, cur, d)
	})
	if errors.Is(err, db.ErrNameTaken) { // only a released cluster gets its name back, and another was faster: that has to be decided again
		err = db.ErrStale
	}
	if err != nil {
		return fmt.Errorf("apply to %s: %w", d.Next.ID, err)
	}
	return nil
}

// checkBrake returns ErrStale if a create may not begin any more.
func checkBrake(ctx context.Context, c *db.Tx, cluster string, kind lifecycle.Kind) error {
	if kind != lifecycle.Create {
		return nil
	}
	brake, err := brakes.HoldingFor(ctx, c, cluster, c.Now)
	if err == nil && brake != nil {
		err = db.ErrStale
	}
	return err
}

// decide writes a decision to the locked row. A decision that changes nothing bumps no version, so no subscriber is updated.
func decide(ctx context.Context, c *db.Tx, cur usage.Held, d lifecycle.Decision) error {
	acts := d.Close != nil || d.Open != "" || d.StopNow || len(d.Jobs) > 0
	if d.Close != nil {
		if err := closeAttempt(ctx, c, cur.ID, *d.Close); err != nil {
			return err
		}
	}
	if d.StopNow {
		if err := askToStop(ctx, c, cur.ID, d.StopWhy); err != nil {
			return err
		}
	}
	for _, m := range d.Jobs {
		if err := moveJob(ctx, c, cur.ID, m); err != nil {
			return err
		}
		if err := setAsked(ctx, c, cur.ID, m); err != nil {
			return err
		}
	}
	if acts || !clusters.SameState(cur.Cluster, d.Next) {
		if err := moveCluster(ctx, c, cur, d); err != nil {
			return err
		}
	} else if !cur.WakeAt.Equal(db.Round(d.Next.WakeAt)) {
		if _, err := c.Exec(ctx, `UPDATE clusters SET wake_at = $2 WHERE id = $1`, cur.ID, db.Null(d.Next.WakeAt)); err != nil {
			return fmt.Errorf("set the wake-up of %s: %w", cur.ID, err)
		}
	}
	effects(c, cur.ID, d.Effects)
	if d.Wait != nil {
		return queueForRunner(ctx, c, cur.ID, *d.Wait)
	}
	return nil
}

// moveCluster stores the next row and everything that follows from the move.
func moveCluster(ctx context.Context, c *db.Tx, cur usage.Held, d lifecycle.Decision) error {
	version, err := updateCluster(ctx, c, cur, d.Next)
	if err != nil {
		return err
	}
	opened := 0
	if d.Open != "" {
		if opened, err = openAttempt(ctx, c, cur.ID, d); err != nil {
			return err
		}
	}
	if d.Wait == nil && cur.Position > 0 { // a cluster that waits for a runner always has a place
		if err := leaveRunnerQueue(ctx, c, cur.ID); err != nil {
			return err
		}
	}
	if d.Close != nil { // a new fact: the cluster has to be reconciled again
		if err := clusters.RequestReconcile(ctx, c, cur.ID); err != nil {
			return err
		}
	}
	if err := clusters.Publish(ctx, c, cur.ID, version); err != nil {
		return err
	}
	if err := tellBlocked(ctx, c, cur.Cluster, d.Next); err != nil {
		return err
	}
	if err := announce(ctx, c, cur.Cluster, d); err != nil {
		return err
	}
	if d.Next.Reopened > cur.Reopened {
		if err := clusters.StartRemoval(ctx, c, cur.ID); err != nil {
			return err
		}
	}
	if cur.ReleasedAt.IsZero() && !d.Next.ReleasedAt.IsZero() {
		if err := errors.Join(planRemovals(ctx, c, cur.ID), clusters.EndOrphans(ctx, c, cur.ID), removeOwnEnvironment(ctx, c, cur.ID), access.RecordGone(ctx, c, cur.ID)); err != nil {
			return err
		}
	}
	if attempts.GivesCapacity(cur.Cluster, d.Next) {
		if err := clusters.FreeCapacity(ctx, c, d.Next); err != nil {
			return err
		}
	}
	if cur.Seen != d.Next.Seen {
		c.Enqueue(queue.BreakersArgs{})
	}
	if stopsCounting(cur.Cluster, d.Next) {
		clusters.NextTurns(c)
	}
	if cur.Desired != d.Next.Desired {
		if _, err := clusters.CloseOver(ctx, c, cur.ID); err != nil {
			return err
		}
		if _, err := access.Revoke(ctx, c, cur.ID, access.Every, nil, clusters.Origin{Actor: db.Lifecycle, Why: d.Next.DesiredWhy.WithoutFailure().String()}); err != nil {
			return err
		}
	}
	if usage.RateChanges(cur.Cluster, d.Next) {
		if err := usage.Sample(ctx, c, cur, d.Next); err != nil {
			return err
		}
	}
	return tell(ctx, c, cur, d, opened)
}

// tell writes the move to the audit trail and to the Ready condition. Progress alone is not a move.
func tell(ctx context.Context, c *db.Tx, cur usage.Held, d lifecycle.Decision, opened int) error {
	moved := clusters.StatusAndPhase(cur.Cluster) != clusters.StatusAndPhase(d.Next) || cur.Desired != d.Next.Desired || cur.Why != d.Next.Why
	looks := d.Open == lifecycle.Create && d.Next.Phase == lifecycle.AwaitingCapacity || d.Quiet // its attempt's row shows that
	if !moved && (d.Open == "" || looks) && d.Close == nil && !d.StopNow {
		return nil
	}
	m := db.Move{From: clusters.StatusAndPhase(cur.Cluster), To: clusters.StatusAndPhase(d.Next), Why: d.Next.Why.String(), Attempt: opened, Kind: d.Open}
	if brief := d.Next.Why.WithoutFailure(); brief != d.Next.Why {
		m.Brief = brief.String()
	}
	if d.Close != nil {
		m.Closed = d.Close.Number
		if !moved {
			m.Why, m.Brief = d.Close.Message, ""
		}
	}
	if cur.Desired != d.Next.Desired && clusters.StatusAndPhase(cur.Cluster) == clusters.StatusAndPhase(d.Next) {
		m.Why, m.Brief = d.Next.DesiredWhy.String(), ""
	}
	if err := c.Record(ctx, db.Lifecycle, "decided", cur.ID, m); err != nil {
		return err
	}
	return setReady(ctx, c, d.Next)
}

func updateCluster(ctx context.Context, c *db.Tx, cur usage.Held, next lifecycle.Cluster) (version int64, err error) {
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

func effects(c *db.Tx, cluster string, effects []lifecycle.Effect) {
	for _, e := range effects {
		switch e.Kind {
		case lifecycle.Launch:
			c.Enqueue(queue.LaunchArgs{Cluster: cluster, Attempt: e.Attempt})
		case lifecycle.StopRunner:
			c.Enqueue(queue.StopArgs{Cluster: cluster, Attempt: e.Attempt})
		}
	}
}
