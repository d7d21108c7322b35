package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
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
	limit := pageOf(f.Limit)
	w := conditions{args: pgx.NamedArgs{"limit": limit + 1, "principal": f.Principal}}
	w.add(f.Cluster != "", "j.cluster_id = @cluster", "cluster", f.Cluster)
	w.add(f.Type != "", "j.job_type = @type", "type", f.Type)
	w.add(f.Status != "", "j.status = @status", "status", f.Status)
	w.add(f.Teams != nil, "j.cluster_id IN (SELECT id FROM clusters WHERE team = ANY (@teams) UNION ALL SELECT s.cluster_id FROM shares s WHERE "+sharedWith+")", "teams", f.Teams)
	w.add(f.Cursor != "", "j.id < @cursor", "cursor", f.Cursor)
	page, err = all[Job](ctx, s.pool, `
		SELECT j.id, j.cluster_id AS cluster, j.job_type AS type, j.status, j.attempt, j.error_code, j.error_message, j.created_at, j.started_at, j.ended_at
		FROM jobs j `+w.where()+` ORDER BY j.id DESC LIMIT @limit`, w.args)
	if err != nil {
		return nil, "", fmt.Errorf("list jobs: %w", err)
	}
	if len(page) > limit {
		page = page[:limit]
		next = page[limit-1].ID
	}
	return page, next, nil
}
