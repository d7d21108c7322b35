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

// WantRefresh asks to apply a ready cluster's add-ons again, and returns the job that does it. A cause (a push's head, say)
// counts once: the same cause again returns the first one's job. Of the requests made while a refresh runs, only the newest is
// met next. ErrConflict: the cluster is not ready, is going away, or has no add-ons. ErrStale: the row is not the version that
// the actor saw.
func (s *Store) WantRefresh(ctx context.Context, cluster, cause string, d clusters.Origin) (job string, err error) {
	out, err := clusters.ChangeSeen(ctx, s.DB, cluster, d, func(c *db.Tx, cur usage.Held, out *clusters.Outcome) error {
		err := c.QueryRow(ctx, `SELECT job_id FROM refreshes WHERE cluster_id = $1 AND cause = $2`, cur.ID, cause).Scan(&out.Job)
		if err == nil || !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if err := refreshable(cur.Cluster); err != nil {
			return err
		}
		out.Job, err = wantRefresh(ctx, c, cur, cause, d)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("refresh %s: %w", cluster, err)
	}
	return out.Job, nil
}

func refreshable(c lifecycle.Cluster) error {
	switch {
	case c.Desired == lifecycle.Absent:
		return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, c.DesiredWhy)
	case c.Status != lifecycle.Ready:
		return fmt.Errorf("%w: the cluster is %s", db.ErrConflict, c.Status)
	case len(c.Addons) == 0:
		return fmt.Errorf("%w: it was accepted without add-ons", db.ErrConflict)
	}
	return nil
}

func wantRefresh(ctx context.Context, c *db.Tx, cur usage.Held, cause string, d clusters.Origin) (job string, err error) {
	if job, err = findUnfinished(ctx, c, cur.ID, lifecycle.JobConfigure); err != nil {
		return "", err
	}
	if job == "" {
		job = db.NewID("job")
		if err := addJob(ctx, c, job, cur.ID, lifecycle.JobConfigure); err != nil {
			return "", err
		}
	}
	_, err = c.Exec(ctx, `INSERT INTO refreshes (cluster_id, cause, number, job_id, created_at) VALUES ($1, $2, $3, $4, $5)`,
		cur.ID, cause, cur.Work[lifecycle.Configure].Wanted+1, job, c.Now)
	if err != nil {
		return "", fmt.Errorf("record the refresh: %w", err)
	}
	if err := clusters.SetDesired(ctx, c, cur.ID, clusters.AskWork, pgx.NamedArgs{"kind": lifecycle.Configure}); err != nil {
		return "", err
	}
	return job, clusters.RecordAction(c, d, "refresh_asked", cur.ID, clusters.Action{Move: db.Move{Job: job}, After: cur.Work[lifecycle.Configure].Wanted + 1})
}

// queueAddons stores the cluster's add-ons as they are at its acceptance.
func queueAddons(b *db.Batch, cluster string, addons []clusters.Addon) error {
	for i, a := range addons {
		if err := clusters.QueueAddon(b, cluster, i+1, a); err != nil {
			return err
		}
	}
	return nil
}

func addonNames(addons []clusters.Addon) []string {
	names := make([]string, 0, len(addons))
	for _, a := range addons {
		names = append(names, a.Name)
	}
	return names
}

// setConfigured sets the condition that says whether the add-ons match the last request.
func setConfigured(ctx context.Context, c *db.Tx, cluster string, m lifecycle.JobMove) error {
	q := clusters.Condition{Type: "Configured", Status: "False", Reason: m.Code, Message: m.Message}
	switch m.To {
	case lifecycle.JobRunning:
		q.Reason, q.Message = "Configuring", "its add-ons are being brought anew"
	case lifecycle.JobSucceeded:
		q.Status, q.Reason, q.Message = "True", "AddonsThere", "all its add-ons were seen there"
	}
	return clusters.SetCondition(ctx, c, cluster, q)
}
