package usage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

// used counts for maya's request of a pull request.
func used(t testing.TB, s *store.Store) usage.Usage {
	t.Helper()
	scope := storetest.Requests(storetest.FromPR(storetest.Granted("any"), 1)).Scope
	scope.Everywhere = true
	u, err := s.Usage(t.Context(), scope)
	require.NoError(t, err)
	return u
}

func TestAClusterCountsUntilNothingOfItIsLeft(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	numbers := func() []int { u := used(t, s).Team; return []int{u.Live, u.Creating, u.Waiting} }
	require.Equal(t, []int{0, 0, 0}, numbers())
	row := storetest.Accept(t, s, storetest.Sized("shop"))
	require.Equal(t, []int{1, 1, 0}, numbers(), "accepted")
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, row.ID).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	require.Equal(t, []int{1, 1, 0}, numbers(), "creating")
	storetest.Ready(t, s, row, open, "demo-abcde")
	require.Equal(t, []int{1, 0, 0}, numbers(), "ready")
	_, err = s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	require.Equal(t, []int{1, 0, 0}, numbers(), "no longer wanted")
	storetest.Step(t, s, row.ID)
	open, err = s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []int{1, 0, 0}, numbers(), "going")
	storetest.Zero(t, s, clock, open)
	require.Equal(t, lifecycle.Released, storetest.Settled(t, s, row.ID).Phase)
	require.Equal(t, []int{0, 0, 0}, numbers(), "released")
}

func TestWhoWaitsOrAwaitsApprovalIsCountedApart(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	storetest.Queues(t, s, clock, "first", 1)
	waiting := storetest.Queues(t, s, clock, "second", 1)
	a := storetest.RequestedBy(storetest.Granted("third"), "github:will")
	a.Approval = &store.ApprovalAsk{Why: []string{"dear"}, Needs: 1, By: "platform_admin", For: time.Hour, Asked: strings.Repeat("a", 64)}
	storetest.Accept(t, s, a)
	elsewhere := storetest.FromPR(storetest.Granted("fourth"), 7)
	elsewhere.Row.Team = "other"
	storetest.Accept(t, s, elsewhere)

	u := used(t, s)
	require.Equal(t, []int{2, 1, 1}, []int{u.Team.Live, u.Team.Creating, u.Team.Waiting})
	require.Equal(t, []int{2, 2, 1}, []int{u.Person.Live, u.Person.Creating, u.Person.Waiting}, "maya's, whichever team")
	require.Equal(t, []int{1, 1, 0}, []int{u.Repository.Live, u.Repository.Creating, u.Repository.Waiting})
	require.Equal(t, []int{3, 2, 1}, []int{u.Everywhere.Live, u.Everywhere.Creating, u.Everywhere.Waiting})

	few, err := s.Usage(t.Context(), usage.Scope{Team: "other"})
	require.NoError(t, err)
	require.Equal(t, []any{1, usage.Counts{}, usage.Counts{}, usage.Counts{}}, []any{few.Team.Live, few.Person, few.Repository, few.Everywhere}, "what nobody asks for")

	_, err = s.Destroy(t.Context(), waiting.ID, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	u = used(t, s)
	require.Equal(t, []int{2, 1, 0}, []int{u.Team.Live, u.Team.Creating, u.Team.Waiting}, "it never began, and waits no more")
}

func TestTheMeterRunsFromTheInstallToTheReleaseAndEachMonthBeginsAtZero(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	month := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	a := storetest.Sized("shop")
	a.Row.TTL, a.MaxTTL = 400*time.Hour, 800*time.Hour
	row := storetest.Accept(t, s, a)
	money := func() []int64 {
		u := used(t, s).Team
		return []int64{u.SpentCents, u.CommittedCents, int64(u.NodeHours)}
	}
	require.Equal(t, []int64{0, 400 * 70, 400 * 6}, money(), "nothing spent, all of it to come")
	clock.Pass(10 * time.Hour)
	require.Equal(t, []int64{0, 390 * 70, 390 * 6}, money(), "what has not begun costs nothing")

	storetest.Step(t, s, row.ID)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	clock.Pass(2 * time.Hour)
	require.Equal(t, []int64{140, 388 * 70, 12 + 388*6}, money(), "an install costs already")
	_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Installing})
	require.NoError(t, err)
	storetest.Ready(t, s, row, open, "demo-abcde")
	clock.Pass(100 * time.Hour)
	require.Equal(t, []int64{102 * 70, 288 * 70, 390 * 6}, money())
	storetest.RequireReport(t, s, month, 102, 102*6, 102*70)

	december := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	clock.Pass(december.Sub(clock.Now()) + 5*time.Hour)
	left := int64(row.DestroyAt.Sub(clock.Now()) / time.Hour)
	require.Equal(t, []int64{5 * 70, left * 70, (5 + left) * 6}, money(), "a new month")
	_, err = s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya"})
	require.NoError(t, err)
	require.Equal(t, []int64{5 * 70, 0, 5 * 6}, money(), "it is not to cost anything much longer")
	storetest.Step(t, s, row.ID)
	clock.Pass(time.Hour)
	open, err = s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	storetest.Zero(t, s, clock, open)
	storetest.Settled(t, s, row.ID)
	clock.Pass(1000 * time.Hour)
	require.Equal(t, []int64{0, 0, 0}, money(), "January")
	storetest.RequireReport(t, s, december, 6, 6*6, 6*70)
}

func TestScaledWorkersCostWhatTheOtherMachinesDo(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Sized("shop"))
	storetest.Step(t, s, row.ID)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	storetest.Ready(t, s, row, open, "demo-abcde")
	clock.Pass(time.Hour)
	before := used(t, s).Team
	c, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	d := lifecycle.Decide(c, f, storetest.Limits)
	d.Next.Workers = new(6) // nine machines in all
	require.NoError(t, s.Apply(t.Context(), d, c.Version))
	clock.Pass(time.Hour)
	after := used(t, s).Team
	require.EqualValues(t, 70+105, after.SpentCents)
	require.InDelta(t, 6+9+2*9, after.NodeHours, 0.01)
	require.EqualValues(t, 3*70, before.CommittedCents)
	require.EqualValues(t, 2*105, after.CommittedCents)
	storetest.RequireReport(t, s, clock.Now().Add(-9*time.Hour), 2, 15, 175)
}

// Its next try begins once it is clean, without being asked for a turn again.
func TestOneWhoseCleaningIsBlockedIsStillBeingCreated(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, attempt := storetest.Claimed(t, s, "shop")
	_, err := s.Record(t.Context(), attempt.Attempt, attempt.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), attempt.Attempt, attempt.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Message: "no", Retryable: true})
	require.NoError(t, err)
	for range storetest.Limits.BlockAfter {
		storetest.Step(t, s, row.ID)
		clock.Pass(storetest.Limits.RetryMax / 100)
		storetest.Step(t, s, row.ID)
		storetest.Leaves(t, s, row.ID)
	}
	storetest.Step(t, s, row.ID)
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{lifecycle.DestroyBlocked, lifecycle.Present}, []any{row.Phase, row.Desired})
	now, err := s.Usage(t.Context(), usage.Scope{Team: row.Team})
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{now.Team.Live, now.Team.Creating})
}

func TestCountersFollowEveryChangeAndAreCorrectedWhereTheyDoNot(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	first := storetest.Accept(t, s, storetest.Sized("first"))
	storetest.Accept(t, s, storetest.FromPR(storetest.Sized("second"), 1))
	before := used(t, s)
	n, err := s.FoldUsage(t.Context())
	require.NoError(t, err)
	require.Equal(t, 7, n, "two changes each of a person, a team and everybody, and one of a repository")
	require.Equal(t, before, used(t, s), "folding changes nothing")
	clock.Pass(first.DestroyAt.Sub(clock.Now()) + time.Hour)
	past := used(t, s).Team
	require.Equal(t, []int64{0, 0}, []int64{past.CommittedCents, int64(past.NodeHours)}, "what is past its end has nothing to come")
	wrong, err := s.CorrectUsage(t.Context())
	require.NoError(t, err)
	require.Empty(t, wrong)

	_, err = s.Pool().Exec(t.Context(), `UPDATE usage_counters SET live = 9, to_come = 0 WHERE kind = 'team'`)
	require.NoError(t, err)
	_, err = s.Pool().Exec(t.Context(), `DELETE FROM usage_counters WHERE kind = 'repository'`)
	require.NoError(t, err)
	require.NotEqual(t, past.Live, used(t, s).Team.Live)
	wrong, err = s.CorrectUsage(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"repository acme/shop", "team " + first.Team}, wrong)
	require.Equal(t, past, used(t, s).Team)
	wrong, err = s.CorrectUsage(t.Context())
	require.NoError(t, err)
	require.Empty(t, wrong)
}
