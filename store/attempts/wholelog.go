package attempts

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// AttemptLog is how long the log of an attempt is.
type AttemptLog struct {
	AttemptRow
	Lines int
	Bytes int64
}

// LogLine is a line of an attempt's log; the first has the number 1.
type LogLine struct {
	Number int
	Text   string
}

const (
	pageBytes   = 256 << 10 // about how much of a log one page has: at most this and a chunk more
	mostExcerpt = 1000      // bytes of a line that a search shows
	chunksAtOne = 16        // chunks that are in memory at a time while a log is searched or sent
)

// placedChunks are the chunks of an attempt, with how many lines and bytes come before each. Only chunks of servers of the release before are
// read for that.
const placedChunks = `
	WITH placed AS (
		SELECT seq, lines, bytes, sum(lines) OVER w - lines AS before, sum(bytes) OVER w - bytes AS bytes_before FROM (
			SELECT l.seq, octet_length(l.body) AS bytes,
				coalesce(l.lines, length(l.body) - length(replace(l.body, E'\n', '')) + CASE WHEN right(l.body, 1) = E'\n' THEN 0 ELSE 1 END) AS lines
			FROM log_chunks l JOIN attempts a ON a.id = l.attempt_id WHERE a.cluster_id = @cluster AND a.number = @number) AS sized
		WINDOW w AS (ORDER BY seq))`

// bodyOf adds the text of a placed chunk.
const bodyOf = ` JOIN LATERAL (SELECT l.body FROM log_chunks l JOIN attempts a ON a.id = l.attempt_id WHERE a.cluster_id = @cluster AND a.number = @number AND l.seq = p.seq) AS c ON true`

// placedChunk is a chunk with the number of lines before it.
type placedChunk struct {
	Seq, Before int
	Body        string
}

// Logs returns the attempts of a cluster that logged something, oldest first, with the length of each log.
func (s *Store) Logs(ctx context.Context, cluster string) ([]AttemptLog, error) {
	all, err := s.List(ctx, cluster)
	if err != nil {
		return nil, err
	}
	sizes, err := db.All[struct {
		Number, Lines int
		Bytes         int64
	}](ctx, s.db.Pool(), `
		SELECT a.number, sum(octet_length(l.body))::bigint AS bytes,
			sum(coalesce(l.lines, length(l.body) - length(replace(l.body, E'\n', '')) + CASE WHEN right(l.body, 1) = E'\n' THEN 0 ELSE 1 END))::integer AS lines
		FROM attempts a JOIN log_chunks l ON l.attempt_id = a.id WHERE a.cluster_id = $1 GROUP BY a.number`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read the lengths of the logs of %s: %w", cluster, err)
	}
	out := make([]AttemptLog, 0, len(sizes))
	for _, attempt := range all {
		for _, size := range sizes {
			if size.Number == attempt.Number {
				out = append(out, AttemptLog{AttemptRow: attempt, Lines: size.Lines, Bytes: size.Bytes})
			}
		}
	}
	return out, nil
}

// LogPage returns at most so many lines of an attempt's log, beginning with the line from; fewer if they are long.
func (s *Store) LogPage(ctx context.Context, cluster string, number, from, most int) ([]LogLine, error) {
	chunks, err := db.All[placedChunk](ctx, s.db.Pool(), placedChunks+`, wanted AS (
			SELECT seq, before, bytes_before - min(bytes_before) OVER () AS skipped FROM placed WHERE before + lines >= @from AND before < @from + @most - 1)
		SELECT p.seq, p.before::integer AS before, c.body FROM wanted p`+bodyOf+` WHERE p.skipped < @bytes ORDER BY p.seq`,
		pgx.NamedArgs{"cluster": cluster, "number": number, "from": from, "most": most, "bytes": pageBytes})
	if err != nil {
		return nil, fmt.Errorf("read the log of attempt %d of %s: %w", number, cluster, err)
	}
	var out []LogLine
	for _, chunk := range chunks {
		for _, line := range chunk.split() {
			if line.Number >= from && len(out) < most {
				out = append(out, line)
			}
		}
	}
	return out, nil
}

func (c placedChunk) split() []LogLine {
	var out []LogLine
	for i, text := range strings.Split(strings.TrimSuffix(c.Body, "\n"), "\n") {
		out = append(out, LogLine{Number: c.Before + i + 1, Text: text})
	}
	return out
}

// FindInLog returns the first lines of an attempt's log from a line on that contain a text, whatever the case; at most so many, and of a
// long one what surrounds the text.
func (s *Store) FindInLog(ctx context.Context, cluster string, number, from int, text string, most int) (found []LogLine, err error) {
	text = strings.ToLower(text)
	for after := -1; ; {
		chunks, err := db.All[placedChunk](ctx, s.db.Pool(), placedChunks+`
			SELECT p.seq, p.before::integer AS before, c.body FROM placed p`+bodyOf+`
			WHERE p.seq > @after AND p.before + p.lines >= @from AND strpos(lower(c.body), @text) > 0 ORDER BY p.seq LIMIT @chunks`,
			pgx.NamedArgs{"cluster": cluster, "number": number, "after": after, "from": from, "text": text, "chunks": chunksAtOne})
		if err != nil {
			return nil, fmt.Errorf("search the log of attempt %d of %s: %w", number, cluster, err)
		}
		for _, chunk := range chunks {
			after = chunk.Seq
			for _, line := range chunk.split() {
				if at := strings.Index(strings.ToLower(line.Text), text); at >= 0 && line.Number >= from {
					found = append(found, LogLine{line.Number, excerpt(line.Text, at)})
				}
				if len(found) == most {
					return found, nil
				}
			}
		}
		if len(chunks) < chunksAtOne {
			return found, nil
		}
	}
}

// excerpt returns what surrounds a place in a line, if the line is long.
func excerpt(line string, at int) string {
	if len(line) <= mostExcerpt {
		return line
	}
	from := max(0, min(at-mostExcerpt/4, len(line)-mostExcerpt))
	cut := strings.ToValidUTF8(line[from:from+mostExcerpt], "")
	if from > 0 {
		cut = "…" + cut
	}
	if from+mostExcerpt < len(line) {
		cut += "…"
	}
	return cut
}

// FailingLine returns the number of the last line by which the failure of an attempt was recognized; 0: none is in its log.
func (s *Store) FailingLine(ctx context.Context, cluster string, number int) (int, error) {
	chunks, err := db.All[struct {
		Seq, Before int
		Body, Line  string
	}](ctx, s.db.Pool(), placedChunks+`
		SELECT p.seq, p.before::integer AS before, c.body, a.failing_line AS line FROM attempts a, LATERAL (
			SELECT l.seq, l.body FROM log_chunks l WHERE l.attempt_id = a.id AND strpos(l.body, a.failing_line) > 0 ORDER BY l.seq DESC LIMIT 1) AS c
		JOIN placed p ON p.seq = c.seq WHERE a.cluster_id = @cluster AND a.number = @number AND a.failing_line <> ''`,
		pgx.NamedArgs{"cluster": cluster, "number": number})
	if err != nil {
		return 0, fmt.Errorf("look for the failing line of attempt %d of %s: %w", number, cluster, err)
	}
	last := 0
	for _, chunk := range chunks {
		for _, line := range (placedChunk{chunk.Seq, chunk.Before, chunk.Body}).split() {
			if strings.Contains(line.Text, chunk.Line) {
				last = line.Number
			}
		}
	}
	return last, nil
}

// SendLog passes the log of an attempt to a function, piece by piece, and stops at its first error.
func (s *Store) SendLog(ctx context.Context, cluster string, number int, send func(string) error) error {
	for after := -1; ; {
		chunks, err := db.All[placedChunk](ctx, s.db.Pool(), `
			SELECT l.seq, 0 AS before, l.body FROM log_chunks l JOIN attempts a ON a.id = l.attempt_id
			WHERE a.cluster_id = $1 AND a.number = $2 AND l.seq > $3 ORDER BY l.seq LIMIT $4`, cluster, number, after, chunksAtOne)
		if err != nil {
			return fmt.Errorf("read the log of attempt %d of %s: %w", number, cluster, err)
		}
		for _, chunk := range chunks {
			after = chunk.Seq
			if err := send(strings.TrimSuffix(chunk.Body, "\n") + "\n"); err != nil {
				return err
			}
		}
		if len(chunks) < chunksAtOne {
			return nil
		}
	}
}

// countLines returns how many lines a chunk has.
func countLines(body string) int { return strings.Count(strings.TrimSuffix(body, "\n"), "\n") + 1 }
