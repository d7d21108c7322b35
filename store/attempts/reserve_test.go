package attempts_test

import (
	"fmt"
	"sync"
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

// demand needs n elastic IPs of a limit of six, of which used are taken; two of three stay once it is ready.
func demand(n, used int, by map[string]int) attempts.CapacityDemand {
	return attempts.CapacityDemand{Account: "123456789012", Region: "us-east-1", Quotas: []lifecycle.Quota{
		{Service: "ec2", Code: "L-0263D0A3", Name: "Elastic IPs", Limit: 6, Used: used, Need: n, Lasting: n * 2 / 3, UsedBy: by},
	}}
}

// asks claims the cluster's open attempt where nobody has, and asks for room.
func asks(t testing.TB, s *store.Store, row clusters.Row, d attempts.CapacityDemand) (attempts.ReservationAnswer, attempts.LaunchSpec) {
	t.Helper()
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-"+open.Attempt)
	require.NoError(t, err)
	room, lease, err := s.Attempts.Reserve(t.Context(), open.Attempt, open.Token, d)
	require.NoError(t, err)
	require.Empty(t, lease.Stop)
	require.False(t, lease.Until.IsZero(), "asking renews the lease")
	return room, open
}

// waits has the attempt end because there is no room.
func waits(t testing.TB, s *store.Store, row clusters.Row, open attempts.LaunchSpec) clusters.Row {
	t.Helper()
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{
		Outcome: lifecycle.Waiting, Reason: "QuotaInUse", Message: "Elastic IPs: 3 needed", Whose: "quota", Next: "wait",
	})
	require.NoError(t, err)
	return storetest.Settled(t, s, row.ID)
}

// begun accepts a cluster, later than those before, and opens its first attempt.
func begun(t testing.TB, s *store.Store, clock *storetest.Clock, name string) clusters.Row {
	t.Helper()
	clock.Pass(time.Millisecond)
	row, _ := storetest.Launched(t, s, name)
	return row
}

func TestTenThatAskAtOnceAreNeverGrantedMoreThanFits(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	var rows []clusters.Row
	var opens []attempts.LaunchSpec
	for i := range 10 {
		row := begun(t, s, clock, fmt.Sprintf("shop-%d", i))
		open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
		require.NoError(t, err)
		_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
		require.NoError(t, err)
		rows, opens = append(rows, row), append(opens, open)
	}
	answers := make([]attempts.ReservationAnswer, len(opens))
	errs := make([]error, len(opens))
	var all sync.WaitGroup
	for i, open := range opens {
		all.Go(func() {
			answers[i], _, errs[i] = s.Attempts.Reserve(t.Context(), open.Attempt, open.Token, demand(2, 0, nil))
		})
	}
	all.Wait()
	granted := 0
	for i, a := range answers {
		require.NoError(t, errs[i])
		require.Empty(t, a.Never)
		if a.Wait == "" {
			granted++
		} else {
			require.Contains(t, a.Wait, "Elastic IPs: 2 needed")
			require.Positive(t, a.Position)
		}
	}
	require.Equal(t, 3, granted, "three times two of six")
	require.Equal(t, 7, storetest.Count(t, s, `SELECT count(*) FROM reservations WHERE state = 'waiting'`))
	places := map[int]bool{}
	for i, row := range rows {
		_, facts, err := s.Load(t.Context(), row.ID)
		require.NoError(t, err)
		if answers[i].Wait != "" {
			require.False(t, places[facts.Queue.Position], "each has a position of its own")
			places[facts.Queue.Position] = true
		} else {
			require.Zero(t, facts.Queue.Position)
		}
	}
	require.Len(t, places, 7)
	census, err := s.Census(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"granted": 3, "waiting": 7}, census.Room)
}

func TestTheLineIsInTheOrderOfAcceptance(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	first, second, third := begun(t, s, clock, "first"), begun(t, s, clock, "second"), begun(t, s, clock, "third")
	room, full := asks(t, s, first, demand(6, 0, nil))
	require.Equal(t, attempts.ReservationAnswer{}, room)

	room, open3 := asks(t, s, third, demand(3, 0, nil))
	require.Equal(t, attempts.ReservationAnswer{
		Wait:     "Elastic IPs: 3 needed, 6 of 6 are in use or reserved, and clusters ahead in the queue need 6 (1 cluster of the team was asked for earlier and is being measured)",
		Position: 2,
	}, room)
	room, open2 := asks(t, s, second, demand(3, 0, nil))
	require.Equal(t, 1, room.Position, "it was accepted before the third")
	second, third = waits(t, s, second, open2), waits(t, s, third, open3)
	require.Equal(t, []int{1, 2}, []int{second.Position, third.Position})
	require.Equal(t, lifecycle.AwaitingCapacity, third.Phase)
	require.Equal(t, "waiting for capacity in the cloud account: Elastic IPs: 3 needed, 6 of 6 are in use or reserved, and clusters ahead in the queue need 6 "+
		"(1 cluster of the team was asked for earlier and is being measured)", third.Why.String())
	require.Equal(t, clock.Now(), third.WaitsSince)
	require.Equal(t, []any{0, "quota", "wait"}, []any{third.Tries, third.FailWhose, third.FailNext})

	// The first gives up before it recorded anything: it holds nothing, and everybody in line is told.
	clock.Pass(time.Second / 2)
	storetest.Lose(t, s)
	_, err := s.Attempts.Result(t.Context(), full.Attempt, full.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "InvalidConfig", Message: "no"})
	require.NoError(t, err)
	storetest.Step(t, s, first.ID)
	require.Len(t, storetest.RiverJobs(t, s, "capacity_queue"), 1)
	n, err := s.Attempts.AdvanceCapacityQueue(t.Context(), "123456789012", "us-east-1")
	require.NoError(t, err)
	require.Equal(t, 2, n)
	third = storetest.Settled(t, s, third.ID)
	require.Equal(t, lifecycle.AwaitingCapacity, third.Phase, "one behind leaves the room to the next")
	second = storetest.Settled(t, s, second.ID)
	require.Equal(t, []any{lifecycle.AwaitingCapacity, 1}, []any{second.Phase, second.Position}, "a look for room is no move")
	open2, err = s.Attempts.OpenAttempt(t.Context(), second.ID)
	require.NoError(t, err)
	require.Equal(t, 2, open2.Number, "the next in the queue looks at once, before its wait is over")

	// While the second has not asked again it keeps its place: the third is not granted what it would need.
	clock.Pass(storetest.Limits.RetryMax / 100)
	storetest.Step(t, s, third.ID)
	room, open3 = asks(t, s, third, demand(4, 0, nil))
	require.Equal(t, attempts.ReservationAnswer{Wait: "Elastic IPs: 4 needed, 0 of 6 are in use or reserved, and clusters ahead in the queue need 3", Position: 2}, room)
	third = waits(t, s, third, open3)
	storetest.Lose(t, s)
	room, _ = asks(t, s, second, demand(3, 0, nil))
	require.Empty(t, room.Wait)
	require.Len(t, storetest.RiverJobs(t, s, "capacity_queue"), 1, "who was behind it has moved up")
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 2, "its runner came, and now the look is a move, which is shown at once")
	second = storetest.Settled(t, s, second.ID)
	require.Equal(t, []any{lifecycle.Preflight, 0, time.Time{}}, []any{second.Phase, second.Position, second.WaitsSince})
	third = storetest.Settled(t, s, third.ID)
	require.Equal(t, 1, third.Position)
	require.Equal(t, 3, storetest.Step(t, s, third.ID).Next.Seen+1, "it became the next since it asked, so it looks at once")
}

// Looks for room leave no more behind than their attempts: the words, the trail and the wait stand as they are.
func TestALookThatFindsNoRoomChangesNothingThatIsShown(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	full, row := begun(t, s, clock, "full"), begun(t, s, clock, "shop")
	asks(t, s, full, demand(6, 0, nil))
	_, attempt := asks(t, s, row, demand(3, 0, nil))
	first := waits(t, s, row, attempt)
	trail, err := s.Timeline(t.Context(), row.ID)
	require.NoError(t, err)
	for look := range 20 {
		clock.Pass(5 * time.Minute)
		storetest.Step(t, s, row.ID)
		_, attempt = asks(t, s, row, demand(3, 0, nil))
		require.Equal(t, look+2, attempt.Number)
		_, err := s.Attempts.Report(t.Context(), attempt.Attempt, attempt.Token, attempts.ReportRow{Seq: 1, Phase: lifecycle.Preflight, Percent: 5, Step: "looking"})
		require.NoError(t, err)
		require.Equal(t, face(first), face(storetest.Settled(t, s, row.ID)), "while it looks")
		require.Equal(t, face(first), face(waits(t, s, row, attempt)))
	}
	after, err := s.Timeline(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, trail, after)

	// One that dies after it was told to wait: its cluster waits on, and no try is spent.
	clock.Pass(5 * time.Minute)
	storetest.Step(t, s, row.ID)
	_, attempt = asks(t, s, row, demand(3, 0, nil))
	clock.Pass(time.Hour)
	require.Equal(t, lifecycle.Lost, storetest.Step(t, s, row.ID).Close.Outcome)
	lost := storetest.Settled(t, s, row.ID)
	require.Equal(t, face(first), face(lost))
	require.Zero(t, lost.Tries)
}

// face is what people see of a cluster that waits.
func face(r clusters.Row) []any {
	return []any{r.Status, r.Phase, r.Why, r.Position, r.Progress, r.WaitsSince, r.FailReason, r.FailMessage}
}

func TestWhatWasGrantedOnceIsGrantedAgain(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := begun(t, s, clock, "shop")
	for range 2 {
		room, _ := asks(t, s, row, demand(6, 0, nil))
		require.Equal(t, attempts.ReservationAnswer{}, room)
	}
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM reservations WHERE state = 'granted' AND jsonb_array_length(items) = 1`))
	require.Len(t, storetest.RiverJobs(t, s, "capacity_queue"), 1)
}

func TestMoreThanTheLimitNeverFitsAndTakesNoPlace(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := begun(t, s, clock, "shop")
	room, _ := asks(t, s, row, demand(7, 0, nil))
	require.Equal(t, attempts.ReservationAnswer{Never: "Elastic IPs: 7 needed, but the limit is 6"}, room)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM reservations`))
}

func TestAReadyClusterIsCountedOnceAndAReleasedOneNotAtAll(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	first, second := begun(t, s, clock, "first"), begun(t, s, clock, "second")
	_, open := asks(t, s, first, demand(3, 0, nil))
	storetest.Lose(t, s)
	used := storetest.Ready(t, s, first, open, "first-abcde")
	require.Len(t, storetest.RiverJobs(t, s, "capacity_queue"), 1, "from now on it holds less")

	room, other := asks(t, s, second, demand(4, 2, used))
	require.Empty(t, room.Wait, "what it made is seen and not added to what it holds: 2 + 4 of 6")
	_, err := s.Attempts.Result(t.Context(), other.Attempt, other.Token, attempts.ResultRow{Outcome: lifecycle.Stopped, Message: "stopped"})
	require.NoError(t, err)

	third := begun(t, s, clock, "third")
	room, _ = asks(t, s, third, demand(5, 0, nil))
	require.Equal(t, "Elastic IPs: 5 needed, 2 of 6 are in use or reserved", room.Wait, "not seen yet, it holds what lasts; the stopped one holds nothing")

	// The first is torn down and released: the proof is what counts, and those in line hear of it.
	_, err = s.Destroy(t.Context(), first.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	storetest.Step(t, s, first.ID)
	open, err = s.Attempts.OpenAttempt(t.Context(), first.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-2")
	require.NoError(t, err)
	for i, report := range []attempts.ReportRow{{ToolExit: &attempts.ToolExitRow{}}, {Pass: storetest.Pass(1)}, {Pass: storetest.Pass(2)}} {
		clock.Pass(time.Second)
		if report.Seq, report.Phase = i+1, lifecycle.Verifying; report.Pass != nil {
			report.Pass.Identities = []string{"first-abcde"}
		}
		_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, report)
		require.NoError(t, err)
	}
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	storetest.Lose(t, s)
	require.Equal(t, lifecycle.Released, storetest.Settled(t, s, first.ID).Phase)
	require.Len(t, storetest.RiverJobs(t, s, "capacity_queue"), 1)
	_, facts, err := s.Load(t.Context(), third.ID)
	require.NoError(t, err)
	require.Equal(t, []any{1, clock.Now()}, []any{facts.Queue.Position, facts.Queue.FreedAt})
	room, _ = asks(t, s, third, demand(6, 0, nil))
	require.Empty(t, room.Wait)

	clock.Pass(40 * 24 * time.Hour)
	_, err = s.Prune(t.Context(), 30*24*time.Hour)
	require.NoError(t, err)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM reservations WHERE cluster_id = $1`, first.ID))
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM reservations`), "a living cluster's stays")
}

// On IBM Cloud a cluster has no tags before it is installed.
func TestWhatAClusterInstallsInItsResourceGroupIsCountedOnce(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	first := begun(t, s, clock, "shop")
	room, attempt := asks(t, s, first, demand(3, 0, nil))
	require.Empty(t, room.Wait)
	_, err := s.Record(t.Context(), attempt.Attempt, attempt.Token, attempts.IdentityRow{CCOName: "shop-abcdefghij", Account: "123456789012", Region: "us-east-1"}, nil)
	require.NoError(t, err)

	d := demand(3, 3, nil)
	d.Quotas[0].UsedIn = map[string]int{"shop-abcdefghij": 2, "default": 1}
	room, second := asks(t, s, begun(t, s, clock, "bank"), d)
	require.Equal(t, "Elastic IPs: 3 needed, 4 of 6 are in use or reserved", room.Wait, "three of the first cluster, and one of somebody else")
	d.Quotas[0].Used, d.Quotas[0].UsedIn = 3, map[string]int{"shop-abcdefghij": 3}
	room, _, err = s.Attempts.Reserve(t.Context(), second.Attempt, second.Token, d)
	require.NoError(t, err)
	require.Empty(t, room.Wait, "both fit beside each other")
}

func TestOneThatIsNoLongerWantedLeavesTheLine(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	full, first, second := begun(t, s, clock, "full"), begun(t, s, clock, "first"), begun(t, s, clock, "second")
	asks(t, s, full, demand(6, 0, nil))
	_, open1 := asks(t, s, first, demand(3, 0, nil))
	_, open2 := asks(t, s, second, demand(3, 0, nil))
	first, second = waits(t, s, first, open1), waits(t, s, second, open2)
	require.Equal(t, 2, second.Position)
	storetest.Lose(t, s)
	asked := clock.Now()
	clock.Pass(time.Second / 10)
	_, err := s.Destroy(t.Context(), first.ID, clusters.Origin{Actor: "github:maya", Why: "enough"})
	require.NoError(t, err)
	require.Len(t, storetest.RiverJobs(t, s, "capacity_queue"), 1)
	_, facts, err := s.Load(t.Context(), second.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.QueuePosition{
		Position: 1, For: "Elastic IPs: 3 needed, 6 of 6 are in use or reserved, and clusters ahead in the queue need 3", Asked: 2,
		Since: asked, AskedAt: asked, FreedAt: clock.Now(),
	}, facts.Queue)
	_, facts, err = s.Load(t.Context(), first.ID)
	require.NoError(t, err)
	require.Zero(t, facts.Queue)
}

func TestRoomIsForAClaimedWantedCreateInItsOwnAccount(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := begun(t, s, clock, "shop")
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, _, err = s.Attempts.Reserve(t.Context(), open.Attempt, open.Token, demand(1, 0, nil))
	require.ErrorIs(t, err, db.ErrFenced, "nobody claimed it")
	_, _, err = s.Attempts.Reserve(t.Context(), open.Attempt, "another", demand(1, 0, nil))
	require.ErrorIs(t, err, db.ErrFenced)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	elsewhere := demand(1, 0, nil)
	elsewhere.Region = "us-west-2"
	_, _, err = s.Attempts.Reserve(t.Context(), open.Attempt, open.Token, elsewhere)
	require.ErrorContains(t, err, `region is "us-west-2", and what is known is "us-east-1"`)
	_, err = s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "enough"})
	require.NoError(t, err)
	room, lease, err := s.Attempts.Reserve(t.Context(), open.Attempt, open.Token, demand(1, 0, nil))
	require.NoError(t, err)
	require.Equal(t, []any{attempts.ReservationAnswer{}, "enough"}, []any{room, lease.Stop})
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM reservations`))
}

func TestAnAttemptThatWasToldToWaitRecordsNothing(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	full, row := begun(t, s, clock, "full"), begun(t, s, clock, "shop")
	asks(t, s, full, demand(6, 0, nil))
	_, open := asks(t, s, row, demand(1, 0, nil))
	_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("shop-abcde"), storetest.Bundles("shop-abcde"))
	require.ErrorIs(t, err, db.ErrConflict)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM attempts WHERE recorded_at IS NOT NULL`))

	// The next attempt could not measure anything, so it asked for nothing and went on: it must not stand in line for ever.
	waits(t, s, row, open)
	clock.Pass(storetest.Limits.RetryMax / 100)
	storetest.Step(t, s, row.ID)
	open, err = s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-2")
	require.NoError(t, err)
	storetest.Lose(t, s)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("shop-abcde"), storetest.Bundles("shop-abcde"))
	require.NoError(t, err)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM reservations WHERE state = 'waiting'`))
	require.Len(t, storetest.RiverJobs(t, s, "capacity_queue"), 1)
}
