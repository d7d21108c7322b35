package attempts_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAWholeLogIsPagedSearchedAndSent(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	var whole strings.Builder
	number := 0
	for seq := 1; seq <= 40; seq++ { // a log of several pages, in chunks of different sizes
		var chunk strings.Builder
		for range seq % 7 * 30 {
			number++
			fmt.Fprintf(&chunk, "line %d %s\n", number, strings.Repeat("x", number%50))
		}
		if seq == 20 {
			number++
			chunk.WriteString("level=error msg=\"the Quota is full\"\n")
		}
		whole.WriteString(chunk.String())
		_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: seq, Log: chunk.String()})
		require.NoError(t, err)
	}
	lines := strings.Split(strings.TrimSuffix(whole.String(), "\n"), "\n")
	for _, old := range []bool{false, true} { // chunks of a server of the release before have no count
		if old {
			_, err := s.Pool().Exec(t.Context(), `UPDATE log_chunks SET lines = NULL WHERE seq % 2 = 0`)
			require.NoError(t, err)
		}
		logs, err := s.Attempts.Logs(t.Context(), row.ID)
		require.NoError(t, err)
		require.Len(t, logs, 1)
		require.Equal(t, []any{len(lines), int64(whole.Len())}, []any{logs[0].Lines, logs[0].Bytes})
		for _, from := range []int{1, 2, 500, len(lines) - 3, len(lines)} {
			got, err := s.Attempts.LogPage(t.Context(), row.ID, 1, from, 300)
			require.NoError(t, err)
			require.Len(t, got, min(300, len(lines)-from+1))
			for i, line := range got {
				require.Equal(t, attempts.LogLine{Number: from + i, Text: lines[from+i-1]}, line)
			}
		}
		none, err := s.Attempts.LogPage(t.Context(), row.ID, 1, len(lines)+1, 300)
		require.NoError(t, err)
		require.Empty(t, none)
	}
	found, err := s.Attempts.FindInLog(t.Context(), row.ID, 1, 1, "QUOTA", 200)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, lines[found[0].Number-1], found[0].Text)
	found, err = s.Attempts.FindInLog(t.Context(), row.ID, 1, 100, "line", 200)
	require.NoError(t, err)
	require.Equal(t, []any{200, 100}, []any{len(found), found[0].Number})

	var sent strings.Builder
	require.NoError(t, s.Attempts.SendLog(t.Context(), row.ID, 1, func(part string) error { sent.WriteString(part); return nil }))
	require.Equal(t, whole.String(), sent.String())

	at, err := s.Attempts.FailingLine(t.Context(), row.ID, 1)
	require.NoError(t, err)
	require.Zero(t, at, "it did not fail")
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "QuotaExceeded", Message: "no quota", Line: "level=error msg=\"the Quota is full\""})
	require.NoError(t, err)
	at, err = s.Attempts.FailingLine(t.Context(), row.ID, 1)
	require.NoError(t, err)
	require.Contains(t, lines[at-1], "the Quota is full")
}

func TestASearchShowsAnExcerptOfALongLine(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	long := strings.Repeat("ä", 20_000) + "Quota" + strings.Repeat("ö", 20_000)
	_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Log: "quota first " + long + "\n" + long + "\nat its end " + long[:30_000] + "quota\n"})
	require.NoError(t, err)
	found, err := s.Attempts.FindInLog(t.Context(), row.ID, 1, 1, "quota", 200)
	require.NoError(t, err)
	require.Len(t, found, 3)
	for i, line := range found {
		require.Contains(t, strings.ToLower(line.Text), "quota", i)
		require.Less(t, len(line.Text), 1010)
		require.True(t, utf8.ValidString(line.Text))
		require.Equal(t, []bool{i > 0, i < 2}, []bool{strings.HasPrefix(line.Text, "…"), strings.HasSuffix(line.Text, "…")})
	}
}

func TestALogOfAHundredMegabytesIsReadByPages(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	_, err := s.Pool().Exec(t.Context(), `
		WITH r AS (INSERT INTO reports (attempt_id, seq, phase, percent, step, received_at) SELECT $1, i, 'installing', 1, '', now() FROM generate_series(1, 1700) i RETURNING seq)
		INSERT INTO log_chunks (attempt_id, seq, body, received_at, lines) SELECT $1, seq, repeat(md5(seq::text) || E'\n', 1985), now(), 1985 FROM r`, open.Attempt)
	require.NoError(t, err)
	logs, err := s.Attempts.Logs(t.Context(), row.ID)
	require.NoError(t, err)
	require.Greater(t, logs[0].Bytes, int64(100<<20))
	page, err := s.Attempts.LogPage(t.Context(), row.ID, 1, 3_000_000, 1000)
	require.NoError(t, err)
	require.Len(t, page, 1000)
	largest := 0
	require.NoError(t, s.Attempts.SendLog(t.Context(), row.ID, 1, func(part string) error { largest = max(largest, len(part)); return nil }))
	require.Less(t, largest, 100<<10, "it is sent in parts")
}
