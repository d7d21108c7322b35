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
	"github.com/ocpctl/ocpctl/store/storetest"
)

// unused is a ready cluster that nobody has used for almost as long as its profile allows.
func unused(t testing.TB, s *store.Store, clock *storetest.Clock) clusters.Row {
	t.Helper()
	row := sleepy(t, s, lifecycle.SleepStopped, nil)
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET idle_tell = '1h', idle_end = '4h', use_extends = true, end_ttl = $2, ttl = '5h' WHERE id = $1`,
		row.ID, clock.Now().Add(5*time.Hour))
	require.NoError(t, err)
	storetest.Step(t, s, row.ID)
	clock.Pass(46 * time.Minute)
	return storetest.Load(t, s, row.ID)
}

func TestALookInsideNotesWhenPeopleUsedTheCluster(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := unused(t, s, clock)
	open := storetest.Claims(t, s, row.ID, lifecycle.Observe)
	require.Equal(t, []any{lifecycle.PhaseReady, row.Why}, []any{storetest.Load(t, s, row.ID).Phase, storetest.Load(t, s, row.ID).Why}, "nothing is shown of it")
	said := attempts.ResultRow{Outcome: lifecycle.Succeeded, Message: "its API server was asked", LastUse: clock.Now().UTC().Truncate(time.Hour)}
	for range 2 { // the second is the same again
		_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, said)
		require.NoError(t, err)
	}
	got := storetest.Load(t, s, row.ID)
	require.Equal(t, []any{lifecycle.ActivityRequests, clock.Now().UTC(), clock.Now().Add(5 * time.Hour).UTC()}, []any{got.ActiveWhat, got.ActiveAt.UTC(), got.Ends.TTL.UTC()})
	storetest.Step(t, s, row.ID)
	got = storetest.Load(t, s, row.ID)
	require.Equal(t, []any{clock.Now().UTC(), clock.Now().Add(time.Hour).UTC()}, []any{got.Work[lifecycle.Observe].DoneAt.UTC(), got.IdleTellAt().UTC()})
	require.Equal(t, []any{lifecycle.Ready, row.Tries}, []any{got.Status, got.Tries})
	require.Equal(t, "SUCCEEDED", storetest.Text(t, s, `SELECT status FROM jobs WHERE cluster_id = $1 AND job_type = 'OBSERVE'`, row.ID))

	clock.Pass(50 * time.Minute)
	open = storetest.Claims(t, s, row.ID, lifecycle.Observe)
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, LastUse: said.LastUse.Add(-time.Hour)})
	require.NoError(t, err)
	require.Equal(t, got.ActiveAt, storetest.Load(t, s, row.ID).ActiveAt, "a newer use is known")
}

func TestPeopleWhoWereToldWhileALookWasUnderWayAreToldAnew(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := unused(t, s, clock)
	open := storetest.Claims(t, s, row.ID, lifecycle.Observe)
	clock.Pass(15 * time.Minute)
	require.True(t, storetest.Step(t, s, row.ID).TellIdle)
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, LastUse: clock.Now().UTC().Truncate(time.Hour)})
	require.NoError(t, err)
	require.Zero(t, storetest.Load(t, s, row.ID).IdleTold)
	storetest.Step(t, s, row.ID)
	clock.Pass(time.Hour)
	require.True(t, storetest.Step(t, s, row.ID).TellIdle)
}

func TestANoticeSaysThatNobodyCouldLookInside(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := unused(t, s, clock)
	for range 2 {
		open := storetest.Claims(t, s, row.ID, lifecycle.Observe)
		_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "RequestsUnknown", Message: "its API did not answer", Retryable: true})
		require.NoError(t, err)
		storetest.Step(t, s, row.ID)
		clock.Pass(storetest.Limits.RetryBase)
	}
	require.Empty(t, storetest.Step(t, s, row.ID).Open)
	got := storetest.Load(t, s, row.ID)
	require.Equal(t, []any{2, time.Time{}, time.Time{}}, []any{got.Work[lifecycle.Observe].Failures, got.Work[lifecycle.Observe].DoneAt, got.ActiveAt}, "a failed look is no use, and no answer")
	clock.Pass(time.Hour)
	require.True(t, storetest.Step(t, s, row.ID).TellIdle, "people are told anyway")
	require.Equal(t, "true", storetest.Text(t, s, `SELECT facts->>'unobserved' FROM announcements WHERE cluster_id = $1 AND event = 'idle'`, row.ID))
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM jobs WHERE cluster_id = $1 AND job_type = 'OBSERVE' AND status = 'FAILED' AND error_code = 'RequestsUnknown'`, row.ID))
	storetest.Refuses(t, s, "clusters_work", `UPDATE clusters SET work = '{"observe": {"failures": -1}}' WHERE id = $1`, row.ID)
}

func TestOnlyALookInsideSeesPeoplesRequests(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := unused(t, s, clock)
	_, err := s.Sleep(t.Context(), row.ID, store.SleepRequest{}, storetest.Maya(""))
	require.NoError(t, err)
	open := storetest.Claims(t, s, row.ID, lifecycle.Sleep)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, LastUse: clock.Now()})
	require.ErrorIs(t, err, db.ErrConflict)
	storetest.Refuses(t, s, "attempts_use", `UPDATE attempts SET use_seen = now() WHERE id = $1`, open.Attempt)
}
