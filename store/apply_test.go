package store_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
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

func TestOnlyOneOfManyDecisionsForAVersionWins(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	c, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	d := lifecycle.Decide(c, f, storetest.Limits)

	var won, stale atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			switch err := s.Apply(t.Context(), d, c.Version); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, db.ErrStale):
				stale.Add(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, int32(1), won.Load())
	require.Equal(t, int32(19), stale.Load())
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM attempts`))
}

func TestOpeningAnAttemptWritesAllThatFollows(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	clock.Pass(time.Second)
	d := storetest.Step(t, s, row.ID)
	require.Equal(t, lifecycle.Create, d.Open)

	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, 1, open.Number)
	require.Equal(t, row.JobID, open.Job)
	require.True(t, open.Open)
	require.False(t, open.Claimed)
	require.NotEmpty(t, open.Token)

	job, err := s.Reports.Job(t.Context(), row.JobID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.JobRunning, job.Status)
	require.Equal(t, 1, job.Attempt)
	require.Equal(t, clock.Now(), *job.StartedAt)
	require.Equal(t, []string{`{"attempt": 1, "cluster": "` + row.ID + `"}`}, storetest.RiverJobs(t, s, "launch"))

	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, int64(2), now.Version)
	require.Equal(t, lifecycle.Creating, now.Status)
	require.Equal(t, 1, now.Tries)
	require.Equal(t, clock.Now().Add(storetest.Limits.LookAgain), now.WakeAt)
	events, err := s.Timeline(t.Context(), row.ID)
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, db.Lifecycle, events[1].Actor)
	require.Equal(t, "PENDING/queued", events[1].From)
	require.Equal(t, "CREATING/preflight", events[1].To)
	require.Equal(t, now.Why.String(), events[1].Why)
	conditions, err := s.Attempts.Conditions(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []clusters.Condition{{Type: "Ready", Status: "False", Reason: "preflight", Message: now.Why.String(), At: clock.Now()}}, conditions)
	require.Equal(t, 70, storetest.Count(t, s, `SELECT estimated_hourly_cost FROM usage_samples WHERE cluster_id = $1 AND state = 'CREATING'`, row.ID))
	require.Equal(t, 4, storetest.Count(t, s, `SELECT count(*) FROM subscribers WHERE wanted_version = 2 AND shown_version = 0`))
}

func TestADecisionThatChangesNothingTellsNobody(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, _ := storetest.Launched(t, s, "shop")
	before, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	events := storetest.Count(t, s, `SELECT count(*) FROM audit_events`)

	clock.Pass(5 * time.Second)
	storetest.Step(t, s, row.ID) // asks for the launch again
	after, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, before.Version, after.Version)
	require.Equal(t, before.UpdatedAt, after.UpdatedAt)
	require.Equal(t, clock.Now().Add(storetest.Limits.LookAgain), after.WakeAt, "but it is looked at again later")
	require.Equal(t, events, storetest.Count(t, s, `SELECT count(*) FROM audit_events`))
	require.Len(t, storetest.RiverJobs(t, s, "launch"), 1, "asking twice is asking once")
}

func TestClosingAnAttemptAsksForAnotherLook(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Launched(t, s, "shop")
	looks := len(storetest.RiverJobs(t, s, "reconcile"))
	clock.Pass(storetest.Limits.LaunchPatience)
	require.Equal(t, lifecycle.Lost, storetest.Step(t, s, row.ID).Close.Outcome)
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), looks+1)

	_, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.ErrorIs(t, err, db.ErrNotFound)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-late")
	require.ErrorIs(t, err, db.ErrFenced)
	require.ErrorContains(t, err, "attempt 1 is closed")
	_, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	require.Nil(t, f.Open)
	require.Equal(t, 1, f.Last.Number)
	require.Equal(t, lifecycle.Lost, f.Last.Outcome)
}

func TestAnAttemptClaimedMeanwhileIsNotCancelled(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Launched(t, s, "shop")
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	c, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	d := lifecycle.Decide(c, f, storetest.Limits)
	require.Equal(t, lifecycle.Cancelled, d.Close.Outcome)

	_, err = s.Pool().Exec(t.Context(), `UPDATE attempts SET claimed_by = 'pod', claimed_at = now(), lease_until = now() WHERE id = $1`, open.Attempt)
	require.NoError(t, err)
	require.ErrorIs(t, s.Apply(t.Context(), d, c.Version), db.ErrStale)
	_, err = s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
}

func TestARunnerHeardOfMeanwhileIsNotLost(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	clock.Pass(15*time.Minute + storetest.Limits.LeaseGrace + time.Second)
	c, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	d := lifecycle.Decide(c, f, storetest.Limits)
	require.Equal(t, lifecycle.Lost, d.Close.Outcome)

	lease, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1})
	require.NoError(t, err)
	require.Empty(t, lease.Stop, "it may go on: its install lives")
	require.ErrorIs(t, s.Apply(t.Context(), d, c.Version), db.ErrStale, "so nothing may be begun beside it")
	require.Nil(t, storetest.Step(t, s, row.ID).Close)
}

func TestAnAttemptClaimedMeanwhileIsNotGivenUp(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, open := storetest.Launched(t, s, "shop")
	clock.Pass(storetest.Limits.LaunchPatience)
	c, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	d := lifecycle.Decide(c, f, storetest.Limits)
	require.Equal(t, lifecycle.Lost, d.Close.Outcome)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	require.ErrorIs(t, s.Apply(t.Context(), d, c.Version), db.ErrStale)
}

func TestDestroyTurnsTheWishOnce(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	job, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "@maya asked for it"})
	require.NoError(t, err)
	again, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:will", Why: "me too"})
	require.NoError(t, err)
	require.Equal(t, job, again)

	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Absent, now.Desired)
	require.Equal(t, "@maya asked for it", now.DesiredWhy.String())
	require.Equal(t, lifecycle.JobDestroy, now.Teardown)
	require.Equal(t, job, now.JobID)
	require.Equal(t, int64(2), now.Version)
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 2)

	require.Equal(t, lifecycle.Destroyed, storetest.Step(t, s, row.ID).Next.Status, "nothing was ever begun")
	for id, want := range map[string]lifecycle.JobStatus{row.JobID: lifecycle.JobFailed, job: lifecycle.JobSucceeded} {
		got, err := s.Reports.Job(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, want, got.Status)
		require.NotNil(t, got.EndedAt)
	}
	_, _, err = extend(t, s, row.ID, time.Hour)
	require.ErrorIs(t, err, db.ErrConflict)
	require.Zero(t, storetest.Count(t, s, `SELECT estimated_hourly_cost FROM usage_samples ORDER BY sample_time DESC LIMIT 1`))
}

func TestAnEndIsSetAndLifted(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	at := clock.Now().Add(time.Hour)
	require.NoError(t, s.SetEnd(t.Context(), row.ID, clusters.EndPRClosed, &at, lifecycle.Reason{}, "github:maya"))
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, at, now.DestroyAt)
	require.Equal(t, int64(2), now.Version)

	require.NoError(t, s.SetEnd(t.Context(), row.ID, clusters.EndPRClosed, &at, lifecycle.Reason{}, "github:maya"), "the same again")
	require.NoError(t, s.SetEnd(t.Context(), row.ID, clusters.EndLabelRemoved, nil, lifecycle.Reason{}, "github:maya"), "nothing to lift")
	now, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, int64(2), now.Version)

	require.NoError(t, s.SetEnd(t.Context(), row.ID, clusters.EndPRClosed, nil, lifecycle.Reason{}, "github:maya"))
	now, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, row.DestroyAt, now.DestroyAt)
	require.ErrorIs(t, s.SetEnd(t.Context(), row.ID, "claim", &at, lifecycle.Reason{}, "github:maya"), db.ErrConflict)
	require.ErrorIs(t, s.SetEnd(t.Context(), "clu_none", clusters.EndPRClosed, &at, lifecycle.Reason{}, "x"), db.ErrNotFound)

	_, err = s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	require.NoError(t, s.SetEnd(t.Context(), row.ID, clusters.EndPRClosed, &at, lifecycle.Reason{}, "github:maya"), "too late to matter")
	now, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.True(t, now.Ends.PRClosed.IsZero())
}

func TestWhyAPullRequestCountsAsClosedIsKept(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	draft, gone := lifecycle.Reason{Code: lifecycle.ReasonPRDraft}, lifecycle.Reason{Code: lifecycle.ReasonAppRemoved, Name: "acme/shop"}
	at := clock.Now().Add(time.Hour)
	set := func(kind clusters.EndKind, at *time.Time, why lifecycle.Reason) lifecycle.Cluster {
		t.Helper()
		require.NoError(t, s.SetEnd(t.Context(), row.ID, kind, at, why, "github:maya"))
		now, err := s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		return now.Cluster
	}
	require.Equal(t, draft, set(clusters.EndPRClosed, &at, draft).Ends.Reason())
	require.Equal(t, int64(2), set(clusters.EndPRClosed, &at, draft).Version, "the same again")
	require.Equal(t, draft, set(clusters.EndLabelRemoved, &at, lifecycle.Noted("maya took it off")).Ends.PRWhy, "of another end it is not kept")
	require.Equal(t, gone, set(clusters.EndPRClosed, &at, gone).Ends.Reason(), "the same time for another reason")
	storetest.Step(t, s, row.ID)
	require.Equal(t, gone, set(clusters.EndLabelRemoved, nil, lifecycle.Noted("it is back")).Ends.PRWhy, "a decision keeps it")
	require.Zero(t, set(clusters.EndPRClosed, nil, lifecycle.Noted("the App is back")).Ends.PRWhy)
	require.Equal(t, []string{draft.String(), "maya took it off", gone.String(), "it is back", "the App is back"}, whys(t, s, row.ID))
	set(clusters.EndPRClosed, &at, gone)

	clock.Pass(2 * time.Hour)
	storetest.Step(t, s, row.ID)
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, gone, now.DesiredWhy)
	known, err := s.Reports.Known(t.Context(), lifecycle.Seen{})
	require.NoError(t, err)
	require.Equal(t, gone, known.Clusters[0].Ends.PRWhy)
}

// whys are the reasons in the trail of a cluster for the ends that were set and lifted.
func whys(t testing.TB, s *store.Store, cluster string) (list []string) {
	t.Helper()
	events, err := s.Timeline(t.Context(), cluster)
	require.NoError(t, err)
	for _, e := range events {
		if e.Action == "end_set" || e.Action == "end_lifted" {
			list = append(list, e.Why)
		}
	}
	return list
}

func TestTheDatabasesClockIsTheDefault(t *testing.T) {
	t.Parallel()
	frozen, _ := storetest.Open(t)
	url := frozen.Pool().Config().ConnString()
	s := storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: time.Minute})
	a, err := s.Now(t.Context())
	require.NoError(t, err)
	b, err := s.Now(t.Context())
	require.NoError(t, err)
	require.True(t, b.After(a))
	require.Equal(t, time.UTC, a.Location())
	_, err = store.Open(context.Background(), url, db.Options{})
	require.ErrorContains(t, err, "lease")
}
