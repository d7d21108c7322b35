package reports

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
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

// Scan is the type of the jobs that look through a cloud account.
const Scan lifecycle.JobType = "ORPHAN_SCAN"

const jobColumns = `j.id, coalesce(j.cluster_id, '') AS cluster, j.job_type AS type, j.status, j.attempt, j.error_code, j.error_message, j.created_at, j.started_at, j.ended_at`

// allJobs are the jobs on clusters, and the scans as jobs on none.
const allJobs = `
	SELECT id, cluster_id, job_type, status, attempt, error_code, error_message, created_at, started_at, ended_at FROM jobs
	UNION ALL
	SELECT 'job_' || substr(id, 5), NULL, 'ORPHAN_SCAN',
		CASE WHEN outcome = 'succeeded' THEN 'SUCCEEDED' WHEN closed_at IS NOT NULL THEN 'FAILED' WHEN claimed_at IS NOT NULL THEN 'RUNNING'
			WHEN runner > 1 THEN 'RETRYING' ELSE 'PENDING' END,
		runner, reason, CASE WHEN outcome IS DISTINCT FROM 'succeeded' THEN message ELSE '' END, opened_at, coalesce(claimed_at, launched_at), closed_at
	FROM scans`

// Jobs returns a page of jobs, newest first, and the cursor of the next; empty: this is the last.
func (s *Store) Jobs(ctx context.Context, f JobFilter) (page []Job, next string, err error) {
	limit := db.PageOf(f.Limit)
	w := db.Conditions{Args: pgx.NamedArgs{"limit": limit + 1, "principal": f.Principal}}
	w.Add(f.Cluster != "", "j.cluster_id = @cluster", "cluster", f.Cluster)
	w.Add(f.Type != "", "j.job_type = @type", "type", f.Type)
	w.Add(f.Type == "", "NOT (j.job_type = 'INFORM' AND j.status = 'SUCCEEDED')", "", nil) // one each half hour, of which nobody wants to know
	w.Add(f.Status != "", "j.status = @status", "status", f.Status)
	w.Add(f.Teams != nil, "j.cluster_id IN (SELECT id FROM clusters WHERE team = ANY (@teams) UNION ALL SELECT s.cluster_id FROM shares s WHERE "+usage.SharedWith+")", "teams", f.Teams)
	w.Add(f.Cursor != "", "j.id < @cursor", "cursor", f.Cursor)
	page, err = db.All[Job](ctx, s.db.Pool(), `
		SELECT `+jobColumns+` FROM (`+allJobs+`) j `+w.Where()+` ORDER BY j.id DESC LIMIT @limit`, w.Args)
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
	job, err := db.One[Job](ctx, s.db.Pool(), `SELECT `+jobColumns+` FROM (`+allJobs+`) j WHERE j.id = $1`, id)
	if err != nil {
		return Job{}, fmt.Errorf("read job %s: %w", id, err)
	}
	return job, nil
}

// Job is a unit of work on a cluster, or a scan of an account, as people see it.
type Job struct {
	ID                      string
	Cluster                 string // empty: it is a scan
	Type                    lifecycle.JobType
	Status                  lifecycle.JobStatus
	Attempt                 int
	ErrorCode, ErrorMessage string
	CreatedAt               time.Time
	StartedAt, EndedAt      *time.Time
}
