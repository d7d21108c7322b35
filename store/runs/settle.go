package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// bound is a wanted cluster of a run.
type bound struct {
	Cluster       string
	Lifetime      lifecycle.Lifetime
	Attempt       int
	Grace         int64 // nanoseconds, as the spec has it
	JobConclusion string
	JobFinishedAt *time.Time
	Signalled     bool // and that can be told
	ReadyAt       *time.Time
}

// lockClusters locks the clusters on which a locked run has an influence, and the given one, in the order of their ids.
func lockClusters(ctx context.Context, c *db.Tx, run, also string) error {
	_, err := c.Exec(ctx, `
		SELECT FROM clusters WHERE id IN (
			SELECT b.cluster_id FROM run_clusters b JOIN clusters w ON w.id = b.cluster_id WHERE b.run_id = @run AND w.desired = 'present'
			UNION SELECT cluster_id FROM uses WHERE run_id = @run AND released_at IS NULL
			UNION SELECT a.cluster_id FROM access a WHERE a.run_id = @run AND `+openAccess+`
			UNION SELECT @also)
		ORDER BY id FOR NO KEY UPDATE`, pgx.NamedArgs{"run": run, "also": also, "now": c.Now})
	if err != nil {
		return fmt.Errorf("lock the clusters of %s: %w", run, err)
	}
	return nil
}

// settle brings the ends of a locked run's clusters, the uses of its attempts and its access to clusters up to date with what is known of it. It is the only
// place where the end of a run's cluster is set or lifted.
func settle(ctx context.Context, c *db.Tx, run Run) error {
	clusters, err := db.All[bound](ctx, c, `
		SELECT b.cluster_id AS cluster, b.lifetime, b.attempt, coalesce((c.spec ->> 'runGrace')::bigint, 0) AS grace, b.job_conclusion, b.job_finished_at,
			c.ready_at, EXISTS (SELECT FROM signals g WHERE g.cluster_id = b.cluster_id AND g.run_id = b.run_id AND g.problem = '') AS signalled
		FROM run_clusters b JOIN clusters c ON c.id = b.cluster_id WHERE b.run_id = $1 AND c.desired = 'present' ORDER BY b.cluster_id`, run.ID)
	if err != nil {
		return fmt.Errorf("list the clusters of %s: %w", run.ID, err)
	}
	for _, b := range clusters {
		at, why := lifecycle.RunEnd(lifecycle.Bound{
			Platform: run.Platform, Lifetime: b.Lifetime, Attempt: b.Attempt, Grace: time.Duration(b.Grace),
			Job: lifecycle.Finish{Conclusion: b.JobConclusion, At: db.Zero(b.JobFinishedAt)}, Newest: run.Attempt, Run: run.finish(),
			Signalled: b.Signalled, ReadyAt: db.Zero(b.ReadyAt),
		})
		if err := setEnd(ctx, c, b.Cluster, at, why); err != nil {
			return err
		}
	}
	if err := releaseOver(ctx, c, run); err != nil {
		return err
	}
	if err := noteUse(ctx, c, run); err != nil {
		return err
	}
	return revokeOver(ctx, c, run)
}

// noteUse notes the use of the clusters that a locked run works with: its own, up to their end, and those on which it has the turn. While nobody
// can say that the run goes on, that is no use.
func noteUse(ctx context.Context, c *db.Tx, run Run) error {
	if run.State != lifecycle.RunRunning || run.Unwatched != "" || run.MissedAt != nil {
		return nil
	}
	found, err := db.All[struct{ ID string }](ctx, c, `
		SELECT c.id FROM clusters c WHERE c.desired = 'present' AND (
			c.id IN (SELECT b.cluster_id FROM run_clusters b WHERE b.run_id = $1) AND c.end_run_finished IS NULL
			OR c.id IN (SELECT u.cluster_id FROM uses u WHERE u.run_id = $1 AND u.granted_at IS NOT NULL AND u.released_at IS NULL))
		ORDER BY c.id`, run.ID)
	if err != nil {
		return fmt.Errorf("list the clusters that %s works with: %w", run.ID, err)
	}
	for _, cluster := range found {
		cur, err := clusters.Lock(ctx, c, cluster.ID)
		if err != nil {
			return err
		}
		if err := clusters.Active(ctx, c, cur, lifecycle.ActivityRun); err != nil {
			return err
		}
	}
	return nil
}

// setEnd sets the end of a run's cluster, or lifts it with the zero time.
func setEnd(ctx context.Context, c *db.Tx, cluster string, at time.Time, why lifecycle.Reason) error {
	cur, err := clusters.Lock(ctx, c, cluster)
	if err != nil {
		return err
	}
	at = db.Round(at)
	if cur.Desired == lifecycle.Absent || cur.Ends.RunFinished.Equal(at) && cur.Ends.RunWhy == why {
		return nil
	}
	err = clusters.SetDesired(ctx, c, cluster, "end_run_finished = @at, run_end_why = @why", pgx.NamedArgs{"at": db.Null(at), "why": why})
	if err != nil {
		return err
	}
	action, text := "end_set", why.String()
	if at.IsZero() {
		action, text = "end_lifted", "its run goes on"
	}
	return c.Record(ctx, db.Lifecycle, action, cluster, db.Move{End: string(clusters.EndRunFinished), At: db.Null(at), Why: text})
}
