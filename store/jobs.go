package store

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

var insertJob = db.NewInsert("insert the job", "id text, cluster text, kind text, at timestamptz", `
	INSERT INTO jobs (id, cluster_id, job_type, status, created_at) SELECT id, cluster, kind, 'PENDING', at FROM given`)

func addJob(ctx context.Context, c *db.Tx, id, cluster string, kind lifecycle.JobType) error {
	if err := c.Insert(ctx, insertJob, id, cluster, kind, c.Now); err != nil {
		return fmt.Errorf("%s, of %s: %w", kind, cluster, err)
	}
	return nil
}
