package store

import (
	"context"
	"fmt"
	"strings"
)

// LogMark is how far the log of a job was read. The zero value is its start.
type LogMark struct{ Attempt, Seq int }

// mostChunks bounds one read of a log that is followed.
const mostChunks = 200

// LogAfter returns what the job's attempts logged after the mark, oldest first, as lines, and the new mark. There may be more:
// read until nothing comes.
func (s *Store) LogAfter(ctx context.Context, jobID string, after LogMark) (lines []string, next LogMark, err error) {
	type chunk struct {
		Number, Seq int
		Body        string
	}
	chunks, err := all[chunk](ctx, s.pool, `
		SELECT a.number, l.seq, l.body FROM log_chunks l JOIN attempts a ON a.id = l.attempt_id
		WHERE a.job_id = $1 AND (a.number, l.seq) > ($2, $3) ORDER BY a.number, l.seq LIMIT $4`, jobID, after.Attempt, after.Seq, mostChunks)
	if err != nil {
		return nil, after, fmt.Errorf("read the log of %s: %w", jobID, err)
	}
	for _, c := range chunks {
		lines = append(lines, strings.Split(strings.TrimSuffix(c.Body, "\n"), "\n")...)
		after = LogMark{Attempt: c.Number, Seq: c.Seq}
	}
	return lines, after, nil
}

// LogEnd returns the mark of the current end of the job's log.
func (s *Store) LogEnd(ctx context.Context, jobID string) (LogMark, error) {
	var end LogMark
	err := s.pool.QueryRow(ctx, `
		SELECT coalesce(max(a.number), 0), coalesce((array_agg(l.seq ORDER BY a.number DESC, l.seq DESC))[1], 0)
		FROM log_chunks l JOIN attempts a ON a.id = l.attempt_id WHERE a.job_id = $1`, jobID).Scan(&end.Attempt, &end.Seq)
	if err != nil {
		return LogMark{}, fmt.Errorf("read the end of the log of %s: %w", jobID, err)
	}
	return end, nil
}
