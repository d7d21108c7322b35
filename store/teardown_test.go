package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// blocked is a cluster nobody wants whose teardowns find something left.
func blocked(t testing.TB, s *store.Store, clock *storetest.Clock) clusters.Row {
	t.Helper()
	row, open := storetest.Claimed(t, s, "shop")
	_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Message: "no"})
	require.NoError(t, err)
	for range storetest.Limits.BlockAfter {
		storetest.Step(t, s, row.ID)
		storetest.Leaves(t, s, row.ID)
		storetest.Step(t, s, row.ID)
		clock.Pass(storetest.Limits.RetryMax)
	}
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.DestroyBlocked, row.Phase)
	return row
}

// asked counts the audit lines of an action.
func asked(t testing.TB, s *store.Store, action, why string) int {
	t.Helper()
	return storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = $1 AND actor = 'oidc#admin' AND metadata ->> 'why' = $2`, action, why)
}

func TestAbandoningQuietensAndChangesNothingElse(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := blocked(t, s, clock)
	finding := func() reports.FindingRow {
		open, err := s.Reports.Findings(t.Context(), reports.FindingFilter{Kind: lifecycle.Blocked})
		require.NoError(t, err)
		require.Len(t, open, 1)
		return open[0]
	}
	require.Equal(t, row.Why.String(), finding().Why)
	storetest.Step(t, s, row.ID)
	storetest.Leaves(t, s, row.ID)
	row = storetest.Settled(t, s, row.ID)
	require.Equal(t, row.Why.String(), finding().Why, "each try renews it, and with it when the next one is")
	require.Contains(t, finding().Why, "4 teardowns")
	for range 2 {
		require.NoError(t, s.Abandon(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "ticket 4711"}))
	}
	require.Equal(t, 1, asked(t, s, "abandon_asked", "ticket 4711"), "asked twice is asked once")
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.DestroyBlocked, now.Phase, "the controller alone moves it")
	now = storetest.Settled(t, s, row.ID)
	require.Equal(t, []any{lifecycle.Failed, lifecycle.Abandoned, row.Blockers, row.RetryAt}, []any{now.Status, now.Phase, now.Blockers, now.RetryAt})
	require.NoError(t, s.Abandon(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "again"}))

	known, err := s.Reports.Known(t.Context(), lifecycle.Seen{})
	require.NoError(t, err)
	found := lifecycle.Troubles(known, lifecycle.FindingLimits{EndMargin: time.Hour, WakeMargin: 100 * time.Hour, StillFor: time.Hour})
	require.Equal(t, lifecycle.Blocked, found[0].Kind, "the finding stays")
	_, err = storetest.Judge(s, storetest.Requests(storetest.Granted("shop")), storetest.Granted("shop"))
	require.ErrorIs(t, err, db.ErrNameTaken, "and so does the name")

	clock.Pass(storetest.Limits.RetryMax)
	require.Equal(t, lifecycle.Destroy, storetest.Step(t, s, row.ID).Open, "the teardown goes on")
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	storetest.Zero(t, s, clock, open)
	require.Equal(t, lifecycle.Released, storetest.Settled(t, s, row.ID).Phase)
	left, err := s.Reports.Findings(t.Context(), reports.FindingFilter{})
	require.NoError(t, err)
	require.Empty(t, left, "its end resolves the finding at once")
	require.ErrorIs(t, s.Abandon(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "late"}), db.ErrConflict)
}

func TestOnlyABlockedTeardownOfTheUnwantedIsAbandoned(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	require.ErrorIs(t, s.Abandon(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "x"}), db.ErrConflict)
	require.ErrorIs(t, s.RetryTeardown(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "x"}), db.ErrConflict)
	require.ErrorIs(t, s.Abandon(t.Context(), "clu_none", clusters.Origin{Actor: "oidc#admin", Why: "x"}), db.ErrNotFound)
	_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `UPDATE clusters SET status = 'FAILED', phase = 'destroy_blocked'`)
	require.NoError(t, err)
	require.ErrorContains(t, s.Abandon(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "x"}), "still wanted")
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action IN ('abandon_asked', 'retry_asked')`))
}

func TestTheNextTeardownIsBroughtForward(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := blocked(t, s, clock)
	storetest.Step(t, s, row.ID)
	storetest.Leaves(t, s, row.ID)
	row = storetest.Settled(t, s, row.ID)
	require.True(t, row.RetryAt.After(clock.Now()))
	require.Empty(t, storetest.Step(t, s, row.ID).Open, "it is not due")
	storetest.Lose(t, s)
	require.NoError(t, s.RetryTeardown(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "vpc-1 is freed"}))
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 1)
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{row.Phase, clock.Now()}, []any{now.Phase, now.RetryAt}, "no status is written")
	require.Equal(t, lifecycle.Destroy, storetest.Step(t, s, row.ID).Open)
	require.NoError(t, s.RetryTeardown(t.Context(), row.ID, clusters.Origin{Actor: "oidc#admin", Why: "vpc-1 is freed"}), "the one that runs is the one asked for")
	require.Equal(t, 2, asked(t, s, "retry_asked", "vpc-1 is freed"))
	require.Equal(t, row.DestroyFailures, storetest.Settled(t, s, row.ID).DestroyFailures)
}
