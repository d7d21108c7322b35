package attempts

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Launched stores that the attempt's runner was started, completely. Nothing is stored of a closed attempt.
func (s *Store) Launched(ctx context.Context, attempt string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		_, err := c.Exec(ctx, `
			UPDATE attempts SET launched_at = coalesce(launched_at, $2), launch_trouble = NULL
			WHERE id = $1 AND closed_at IS NULL AND (launched_at IS NULL OR launch_trouble IS NOT NULL)`, attempt, c.Now)
		return err
	})
	if err != nil {
		return fmt.Errorf("store the start of attempt %s: %w", attempt, err)
	}
	return nil
}

// LaunchRefused stores why the attempt's runner could not be started, and enqueues a reconcile if that is news. It is shown until a start
// succeeds.
func (s *Store) LaunchRefused(ctx context.Context, attempt string, why lifecycle.Trouble) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		var cluster string
		err := c.QueryRow(ctx, `
			UPDATE attempts SET launch_trouble = $2
			WHERE id = $1 AND closed_at IS NULL AND launch_trouble IS DISTINCT FROM $2 RETURNING cluster_id`, attempt, why).Scan(&cluster)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err != nil:
			return err
		}
		return clusters.RequestReconcile(ctx, c, cluster)
	})
	if err != nil {
		return fmt.Errorf("store why attempt %s was not started: %w", attempt, err)
	}
	return nil
}

// Numbered returns the id of a cluster's attempt by its number. ErrNotFound: there is none.
func (s *Store) Numbered(ctx context.Context, cluster string, number int) (id string, err error) {
	err = s.db.Pool().QueryRow(ctx, `SELECT id FROM attempts WHERE cluster_id = $1 AND number = $2`, cluster, number).Scan(&id)
	if err != nil {
		return "", fmt.Errorf("read attempt %d of %s: %w", number, cluster, db.Plain(err))
	}
	return id, nil
}

// RunnerChanged enqueues a reconcile of the cluster because something was seen of its runner. ErrNotFound: there is no such cluster.
func (s *Store) RunnerChanged(ctx context.Context, cluster string) error {
	return s.db.Write(ctx, func(c *db.Tx) error { return db.Plain(clusters.RequestReconcile(ctx, c, cluster)) })
}
