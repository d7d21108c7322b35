package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

func rehearse(t *testing.T, s *store.Store, a store.Judgement) (lifecycle.Forecast, error) {
	t.Helper()
	judged, err := s.Rehearse(t.Context(), storetest.Requests(a), func(usage.Usage) (store.Judgement, error) { return a, nil })
	return judged.Forecast, err
}

// tableCounts counts the rows of every table there is.
func tableCounts(t *testing.T, s *store.Store) (counts []string) {
	t.Helper()
	rows, err := s.Pool().Query(t.Context(), `
		SELECT table_name || ' ' || (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %I', table_name), false, true, '')))[1]::text
		FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		counts = append(counts, line)
	}
	require.NoError(t, rows.Err())
	require.Contains(t, counts, "clusters 1")
	return counts
}

func TestARehearsalLeavesNoRowBehind(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, first := storetest.Claimed(t, s, "first")
	clock.Pass(30 * time.Minute)
	_, err := s.Pool().Exec(t.Context(), `UPDATE attempts SET closed_at = $2, outcome = 'succeeded' WHERE id = $1`, first.Attempt, clock.Now())
	require.NoError(t, err)
	before := tableCounts(t, s)

	seen, err := rehearse(t, s, storetest.FromPR(storetest.Granted("second"), 41))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Forecast{StartsAt: seen.StartsAt, ReadyP50: 30 * time.Minute, ReadyP90: 30 * time.Minute}, seen)
	require.WithinDuration(t, clock.Now(), seen.StartsAt, 0)

	_, err = rehearse(t, s, storetest.Granted(row.Name))
	require.ErrorIs(t, err, db.ErrNameTaken, "as the real call says")

	refused, err := s.Rehearse(t.Context(), storetest.Requests(storetest.Granted("third")), func(usage.Usage) (store.Judgement, error) {
		return store.Judgement{Verdict: []byte(`{}`), Failed: []byte(`[]`)}, nil
	})
	require.NoError(t, err)
	require.Zero(t, refused.Forecast)
	require.False(t, refused.Allowed)
	require.Equal(t, before, tableCounts(t, s))
}

func TestARehearsalTellsThePlaceInLineAndWhenItsTurnMayCome(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	holder := storetest.Accept(t, s, storetest.Granted("holder"))
	waits := func(name string) store.Judgement {
		a := storetest.Granted(name)
		limit := lifecycle.Limit{Quota: "team", Scope: lifecycle.ScopeTeam, Key: a.Row.Team, What: lifecycle.CountLive, Most: 1}
		a.Turn = &store.TurnAsk{Limits: []lifecycle.Limit{limit}, Words: "the team has 1 of 1", Position: 1}
		return a
	}
	seen, err := rehearse(t, s, waits("one"))
	require.NoError(t, err)
	require.Equal(t, 1, seen.Position)
	require.True(t, seen.StartsAt.Equal(holder.DestroyAt), "when the one that holds the place ends: %s", seen.StartsAt)

	storetest.Accept(t, s, waits("one"))
	seen, err = rehearse(t, s, waits("two"))
	require.NoError(t, err)
	require.Equal(t, 2, seen.Position)

	asks := waits("three")
	asks.Approval = &store.ApprovalAsk{Why: []string{"it is big"}, Needs: 1, By: "platform_admin", For: time.Hour, Asked: strings.Repeat("0", 64)}
	asks.Turn.Words = ""
	seen, err = rehearse(t, s, asks)
	require.NoError(t, err)
	require.Zero(t, seen.StartsAt, "a person decides when")
}
