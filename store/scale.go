package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Scale sets how many workers a ready cluster should have, and returns the job that does it; empty: it has them already. Another
// number while a job runs changes that job's target. ErrConflict: the cluster is not ready or is going away, cannot be scaled,
// or the number is out of bounds. ErrStale: the row is not the version that the actor saw.
func (s *Store) Scale(ctx context.Context, id string, replicas int, d clusters.Origin) (jobID string, err error) {
	out, err := clusters.ChangeSeen(ctx, s.DB, id, d, func(c *db.Tx, cur usage.Held, out *clusters.Outcome) (err error) {
		if err := scalable(cur.Cluster, replicas); err != nil {
			return err
		}
		out.Job, err = scale(ctx, c, cur, replicas, d)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("scale %s: %w", id, err)
	}
	return out.Job, nil
}

func scalable(c lifecycle.Cluster, replicas int) error {
	switch {
	case c.Desired == lifecycle.Absent:
		return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, c.DesiredWhy)
	case c.Status != lifecycle.Ready:
		return fmt.Errorf("%w: the cluster is %s", db.ErrConflict, c.Status)
	case c.WorkersLeast == nil || c.WorkersMost == nil:
		return fmt.Errorf("%w: its profile has no bounds for workers", db.ErrConflict)
	case replicas < *c.WorkersLeast || replicas > *c.WorkersMost:
		return fmt.Errorf("%w: %d workers are not between %d and %d", db.ErrConflict, replicas, *c.WorkersLeast, *c.WorkersMost)
	}
	return nil
}

func scale(ctx context.Context, c *db.Tx, cur usage.Held, replicas int, d clusters.Origin) (jobID string, err error) {
	if jobID, err = findUnfinished(ctx, c, cur.ID, lifecycle.JobScale); err != nil {
		return "", err
	}
	wanted := cur.WorkersWanted
	if wanted == nil && jobID == "" {
		wanted = usage.PresentWorkers(cur.Cluster)
	}
	if wanted != nil && *wanted == replicas {
		return jobID, nil
	}
	scaled := cur.Cluster
	scaled.WorkersWanted = &replicas
	if _, err := clusters.JudgeRise(ctx, c, cur, scaled, d.Afford); err != nil {
		return "", err
	}
	if jobID == "" {
		jobID = db.NewID("job")
		if err := addJob(ctx, c, jobID, cur.ID, lifecycle.JobScale); err != nil {
			return "", err
		}
	}
	err = clusters.SetDesired(ctx, c, cur.ID, "workers_wanted = @replicas, coming_cents = @coming, "+clusters.AskWork,
		pgx.NamedArgs{"replicas": replicas, "coming": cur.Rate(cur.Cluster, &replicas), "kind": lifecycle.Scale})
	if err != nil {
		return "", err
	}
	return jobID, clusters.RecordAction(c, d, "scale_asked", cur.ID, clusters.Action{Move: db.Move{Job: jobID}, Before: wanted, After: replicas})
}

// findUnfinished returns the unfinished job of a type; empty: there is none.
func findUnfinished(ctx context.Context, c *db.Tx, cluster string, kind lifecycle.JobType) (id string, err error) {
	err = c.QueryRow(ctx, `SELECT id FROM jobs WHERE cluster_id = $1 AND job_type = $2 AND ended_at IS NULL`, cluster, kind).Scan(&id)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return "", fmt.Errorf("find the %s job of %s: %w", kind, cluster, err)
	}
	return id, nil
}
