package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Job returns one job. ErrNotFound: there is none of that id.
func (s *Store) Job(ctx context.Context, id string) (Job, error) {
	job, err := one[Job](ctx, s.pool, `
		SELECT id, cluster_id AS cluster, job_type AS type, status, attempt, error_code, error_message, created_at, started_at, ended_at
		FROM jobs WHERE id = $1`, id)
	if err != nil {
		return Job{}, fmt.Errorf("read job %s: %w", id, err)
	}
	return job, nil
}

const insertJob = `INSERT INTO jobs (id, cluster_id, job_type, status, created_at) VALUES ($1, $2, $3, 'PENDING', $4)`

func (c *change) insertJob(ctx context.Context, id, cluster string, kind lifecycle.JobType) error {
	if _, err := c.Exec(ctx, insertJob, id, cluster, kind, c.now); err != nil {
		return fmt.Errorf("insert the %s job of %s: %w", kind, cluster, err)
	}
	return nil
}

// tailBytes is about how much of a log's end is read: at most this and one chunk more.
const tailBytes = 2 << 20

// LogTail returns the last lines that the job's attempts logged, oldest first; fewer if they are very long.
func (s *Store) LogTail(ctx context.Context, jobID string, lines int) ([]string, error) {
	if lines <= 0 {
		return nil, nil
	}
	// A chunk holds at least one line, so that many chunks are enough.
	rows, err := s.pool.Query(ctx, `
		WITH newest AS (
			SELECT a.number, l.seq, l.body FROM log_chunks l JOIN attempts a ON a.id = l.attempt_id
			WHERE a.job_id = $1 ORDER BY a.number DESC, l.seq DESC LIMIT $2
		), counted AS (
			SELECT *, sum(octet_length(body)) OVER (ORDER BY number DESC, seq DESC) - octet_length(body) AS newer FROM newest
		)
		SELECT body FROM counted WHERE newer < $3 ORDER BY number DESC, seq DESC`, jobID, lines, tailBytes)
	if err != nil {
		return nil, fmt.Errorf("read the log of %s: %w", jobID, err)
	}
	chunks, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read the log of %s: %w", jobID, err)
	}
	slices.Reverse(chunks)
	text := strings.TrimSuffix(strings.Join(chunks, ""), "\n")
	if text == "" {
		return nil, nil
	}
	tail := strings.Split(text, "\n")
	return tail[max(0, len(tail)-lines):], nil
}
