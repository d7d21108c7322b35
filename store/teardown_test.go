package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
)

// blocked is a cluster nobody wants whose teardowns find something left.
func blocked(t testing.TB, s *store.Store, clock *clock) clusters.Row {
	t.Helper()
	row, open := claimed(t, s, "shop")
	_, err := s.Record(t.Context(), open.Attempt, open.Token, identity("demo-abcde"), bundles("demo-abcde"))
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Message: "no"})
	require.NoError(t, err)
	for range limits.BlockAfter {
		step(t, s, row.ID)
		leaves(t, s, row.ID)
		step(t, s, row.ID)
		clock.pass(limits.RetryMax)
	}
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.DestroyBlocked, row.Phase)
	return row
}

// leaves claims the open destroy attempt and ends it with something left.
func leaves(t testing.TB, s *store.Store, id string) {
	t.Helper()
	open, err := s.Attempts.OpenAttempt(t.Context(), id)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-"+open.Attempt)
	require.NoError(t, err)
	p := pass(1)
	p.Clean, p.Leftovers = false, json.RawMessage(`[{"type":"vpc","id":"vpc-1","free":"delete it"}]`)
	_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Verifying, ToolExit: &attempts.ToolExitRow{}, Pass: p})
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "LeftoversFound", Message: "vpc-1"})
	require.NoError(t, err)
}

// asked counts the audit lines of an action.
func asked(t testing.TB, s *store.Store, action, why string) int {
	t.Helper()
	return count(t, s, `SELECT count(*) FROM audit_events WHERE action = $1 AND actor = 'oidc#admin' AND metadata ->> 'why' = $2`, action, why)
}

func TestAbandoningQuietensAndChangesNothingElse(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := blocked(t, s, clock)
	finding := func() reports.FindingRow {
		open, err := s.Reports.Findings(t.Context(), reports.FindingFilter{Kind: lifecycle.Blocked})
		require.NoError(t, err)
		require.Len(t, open, 1)
		return open[0]
	}
	require.Equal(t, row.Why, finding().Why)
	step(t, s, row.ID)
	leaves(t, s, row.ID)
	row = settled(t, s, row.ID)
	require.Equal(t, row.Why, finding().Why, "each try renews it, and with it when the next one is")
	require.Contains(t, finding().Why, "4 teardowns")
	for range 2 {
		require.NoError(t, s.Abandon(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "ticket 4711"}))
	}
	require.Equal(t, 1, asked(t, s, "abandon_asked", "ticket 4711"), "asked twice is asked once")
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.DestroyBlocked, now.Phase, "the controller alone moves it")
	now = settled(t, s, row.ID)
	require.Equal(t, []any{lifecycle.Failed, lifecycle.Abandoned, row.Blockers, row.RetryAt}, []any{now.Status, now.Phase, now.Blockers, now.RetryAt})
	require.NoError(t, s.Abandon(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "again"}))

	known, err := s.Reports.Known(t.Context(), lifecycle.Seen{})
	require.NoError(t, err)
	found := lifecycle.Troubles(known, lifecycle.FindingLimits{EndMargin: time.Hour, WakeMargin: 100 * time.Hour, StillFor: time.Hour})
	require.Equal(t, lifecycle.Blocked, found[0].Kind, "the finding stays")
	_, err = judge(s, requests(granted("shop")), granted("shop"))
	require.ErrorIs(t, err, db.ErrNameTaken, "and so does the name")

	clock.pass(limits.RetryMax)
	require.Equal(t, lifecycle.Destroy, step(t, s, row.ID).Open, "the teardown goes on")
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	zero(t, s, clock, open)
	require.Equal(t, lifecycle.Released, settled(t, s, row.ID).Phase)
	left, err := s.Reports.Findings(t.Context(), reports.FindingFilter{})
	require.NoError(t, err)
	require.Empty(t, left, "its end resolves the finding at once")
	require.ErrorIs(t, s.Abandon(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "late"}), db.ErrConflict)
}

func TestOnlyABlockedTeardownOfTheUnwantedIsAbandoned(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row, open := claimed(t, s, "shop")
	require.ErrorIs(t, s.Abandon(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "x"}), db.ErrConflict)
	require.ErrorIs(t, s.RetryTeardown(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "x"}), db.ErrConflict)
	require.ErrorIs(t, s.Abandon(t.Context(), "clu_none", clusters.Origin{Actor: "oidc#admin", Why: "x"}), db.ErrNotFound)
	_, err := s.Record(t.Context(), open.Attempt, open.Token, identity("demo-abcde"), bundles("demo-abcde"))
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET status = 'FAILED', phase = 'destroy_blocked'`)
	require.NoError(t, err)
	require.ErrorContains(t, s.Abandon(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "x"}), "still wanted")
	require.Zero(t, count(t, s, `SELECT count(*) FROM audit_events WHERE action IN ('abandon_asked', 'retry_asked')`))
}

func TestTheNextTeardownIsBroughtForward(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := blocked(t, s, clock)
	step(t, s, row.ID)
	leaves(t, s, row.ID)
	row = settled(t, s, row.ID)
	require.True(t, row.RetryAt.After(clock.now()))
	require.Empty(t, step(t, s, row.ID).Open, "it is not due")
	lose(t, s)
	require.NoError(t, s.RetryTeardown(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "vpc-1 is freed"}))
	require.Len(t, riverJobs(t, s, "reconcile"), 1)
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{row.Phase, clock.now()}, []any{now.Phase, now.RetryAt}, "no status is written")
	require.Equal(t, lifecycle.Destroy, step(t, s, row.ID).Open)
	require.NoError(t, s.RetryTeardown(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "vpc-1 is freed"}), "the one that runs is the one asked for")
	require.Equal(t, 2, asked(t, s, "retry_asked", "vpc-1 is freed"))
	require.Equal(t, row.DestroyFailures, settled(t, s, row.ID).DestroyFailures)
}
