package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/internal/pg"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// JobFilter selects jobs; empty fields do not filter.
type JobFilter struct {
	Cluster   string
	Type      lifecycle.JobType
	Status    lifecycle.JobStatus
	Teams     []string // only of these teams' clusters, and of those shared with them or with Principal; nil: all
	Principal string   // the reader, in addition to Teams
	Cursor    string   // id of the last one seen; newest first
	Limit     int      // default 50, at most 500
}

// Jobs returns a page of jobs, newest first, and the cursor of the next; empty: this is the last.
func (s *Store) Jobs(ctx context.Context, f JobFilter) (page []Job, next string, err error) {
	limit := pg.PageOf(f.Limit)
	w := pg.Conditions{Args: pgx.NamedArgs{"limit": limit + 1, "principal": f.Principal}}
	w.Add(f.Cluster != "", "j.cluster_id = @cluster", "cluster", f.Cluster)
	w.Add(f.Type != "", "j.job_type = @type", "type", f.Type)
	w.Add(f.Status != "", "j.status = @status", "status", f.Status)
	w.Add(f.Teams != nil, "j.cluster_id IN (SELECT id FROM clusters WHERE team = ANY (@teams) UNION ALL SELECT s.cluster_id FROM shares s WHERE "+usage.SharedWith+")", "teams", f.Teams)
	w.Add(f.Cursor != "", "j.id < @cursor", "cursor", f.Cursor)
	page, err = pg.All[Job](ctx, s.db.Pool(), `
		SELECT j.id, j.cluster_id AS cluster, j.job_type AS type, j.status, j.attempt, j.error_code, j.error_message, j.created_at, j.started_at, j.ended_at
		FROM jobs j `+w.Where()+` ORDER BY j.id DESC LIMIT @limit`, w.Args)
	if err != nil {
		return nil, "", fmt.Errorf("list jobs: %w", err)
	}
	if len(page) > limit {
		page = page[:limit]
		next = page[limit-1].ID
	}
	return page, next, nil
}

// Job returns one job. ErrNotFound: there is none of that id.
func (s *Store) Job(ctx context.Context, id string) (Job, error) {
	job, err := pg.One[Job](ctx, s.db.Pool(), `
		SELECT id, cluster_id AS cluster, job_type AS type, status, attempt, error_code, error_message, created_at, started_at, ended_at
		FROM jobs WHERE id = $1`, id)
	if err != nil {
		return Job{}, fmt.Errorf("read job %s: %w", id, err)
	}
	return job, nil
}

// Job is a unit of work on a cluster, as people see it.
type Job struct {
	ID, Cluster             string
	Type                    lifecycle.JobType
	Status                  lifecycle.JobStatus
	Attempt                 int
	ErrorCode, ErrorMessage string
	CreatedAt               time.Time
	StartedAt, EndedAt      *time.Time
}
