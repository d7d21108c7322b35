package store

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

const insertJob = `INSERT INTO jobs (id, cluster_id, job_type, status, created_at) VALUES ($1, $2, $3, 'PENDING', $4)`

func addJob(ctx context.Context, c *db.Tx, id, cluster string, kind lifecycle.JobType) error {
	if _, err := c.Exec(ctx, insertJob, id, cluster, kind, c.Now); err != nil {
		return fmt.Errorf("insert the %s job of %s: %w", kind, cluster, err)
	}
	return nil
}
