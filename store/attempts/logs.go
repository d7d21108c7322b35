package attempts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
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
	chunks, err := db.All[chunk](ctx, s.db.Pool(), `
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
	err := s.db.Pool().QueryRow(ctx, `
		SELECT coalesce(max(a.number), 0), coalesce((array_agg(l.seq ORDER BY a.number DESC, l.seq DESC))[1], 0)
		FROM log_chunks l JOIN attempts a ON a.id = l.attempt_id WHERE a.job_id = $1`, jobID).Scan(&end.Attempt, &end.Seq)
	if err != nil {
		return LogMark{}, fmt.Errorf("read the end of the log of %s: %w", jobID, err)
	}
	return end, nil
}

// tailBytes is about how much of a log's end is read: at most this and one chunk more.
const tailBytes = 2 << 20

// LogTail returns the last lines that the job's attempts logged, oldest first; fewer if they are very long.
func (s *Store) LogTail(ctx context.Context, jobID string, lines int) ([]string, error) {
	if lines <= 0 {
		return nil, nil
	}
	// A chunk holds at least one line, so that many chunks are enough.
	rows, err := s.db.Pool().Query(ctx, `
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
