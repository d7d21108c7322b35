package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Census is how many clusters and jobs stand where.
type Census struct {
	Clusters map[lifecycle.Status]int64
	Jobs     []JobCount
}

// JobCount is the number of jobs of one type in one state.
type JobCount struct {
	Type   lifecycle.JobType
	Status lifecycle.JobStatus
	N      int64
}

// Census counts every cluster and job ever, grouped.
func (s *Store) Census(ctx context.Context) (Census, error) {
	out := Census{Clusters: map[lifecycle.Status]int64{}}
	for status := range lifecycle.Phases {
		out.Clusters[status] = 0
	}
	rows, err := s.pool.Query(ctx, `SELECT status, count(*) FROM clusters GROUP BY status`)
	if err != nil {
		return Census{}, fmt.Errorf("count clusters: %w", err)
	}
	var status lifecycle.Status
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&status, &n}, func() error { out.Clusters[status] = n; return nil }); err != nil {
		return Census{}, fmt.Errorf("count clusters: %w", err)
	}
	rows, err = s.pool.Query(ctx, `SELECT job_type, status, count(*) FROM jobs GROUP BY job_type, status`)
	if err != nil {
		return Census{}, fmt.Errorf("count jobs: %w", err)
	}
	if out.Jobs, err = pgx.CollectRows(rows, pgx.RowToStructByPos[JobCount]); err != nil {
		return Census{}, fmt.Errorf("count jobs: %w", err)
	}
	return out, nil
}
