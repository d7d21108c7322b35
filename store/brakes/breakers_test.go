package brakes_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/lifecycle/breaker"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/storetest"
)

var limits = breaker.Limits{After: 3, Pause: 10 * time.Minute, Most: time.Hour}

// ends has a running create of a cluster end.
func ends(t *testing.T, s *store.Store, id string, result attempts.ResultRow) {
	t.Helper()
	open, err := s.Attempts.OpenAttempt(t.Context(), id)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, result)
	require.NoError(t, err)
	storetest.Step(t, s, id)
}

func advance(t *testing.T, s *store.Store) (events []breaker.Event) {
	t.Helper()
	changes, err := s.Brakes.Advance(t.Context(), limits)
	require.NoError(t, err)
	for _, c := range changes {
		events = append(events, c.Event)
	}
	return events
}

func TestABreakerOpensTriesOneClusterAndCloses(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	broken := attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "VcpuLimitExceeded", Message: "no vCPUs", Whose: "quota"}
	for i := range 3 {
		row, _ := storetest.Launched(t, s, fmt.Sprintf("broken-%d", i))
		clock.Pass(time.Minute)
		require.Empty(t, advance(t, s))
		ends(t, s, row.ID, broken)
	}
	var waiting []string
	for i := range 4 {
		waiting = append(waiting, storetest.Accept(t, s, storetest.Granted(fmt.Sprintf("waits-%d", i))).ID)
		clock.Pass(time.Second)
	}
	require.Equal(t, []breaker.Event{breaker.Opened}, advance(t, s))
	require.Empty(t, advance(t, s), "once")
	for _, id := range waiting {
		require.Empty(t, storetest.Step(t, s, id).Open)
	}
	why := storetest.Read(t, s, waiting[0]).Why
	require.Equal(t, lifecycle.Place{Platform: "aws", Region: "us-east-1"}, why.Brake.Where)
	require.Contains(t, why.String(), "3 creates in a row failed with VcpuLimitExceeded; one is tried from ")
	found, err := s.Brakes.Findings(t.Context())
	require.NoError(t, err)
	require.Len(t, found, 1)

	clock.Pass(11 * time.Minute)
	var servers sync.WaitGroup
	for range 6 { // whatever two servers and more do at once
		servers.Go(func() { _, err := s.Brakes.Advance(t.Context(), limits); require.NoError(t, err) })
	}
	servers.Wait()
	clock.Pass(time.Second)
	var tried []string
	for _, id := range waiting {
		if storetest.Step(t, s, id).Open == lifecycle.Create {
			tried = append(tried, id)
		}
	}
	require.Equal(t, waiting[:1], tried, "who waits longest, alone")
	clock.Pass(time.Minute)
	ends(t, s, waiting[0], broken)
	require.Equal(t, []breaker.Event{breaker.ProbeFailed}, advance(t, s))
	clock.Pass(15 * time.Minute)
	require.Empty(t, advance(t, s), "it waits longer now")
	clock.Pass(6 * time.Minute)
	require.Equal(t, []breaker.Event{breaker.Probes}, advance(t, s))
	clock.Pass(time.Second)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, waiting[1]).Open)
	clock.Pass(time.Minute)
	open, err := s.Attempts.OpenAttempt(t.Context(), waiting[1])
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	storetest.Ready(t, s, storetest.Read(t, s, waiting[1]), open, "waits-1-abcde")
	require.Equal(t, []breaker.Event{breaker.Succeeded}, advance(t, s))
	for _, id := range waiting[2:] {
		require.Equal(t, lifecycle.Create, storetest.Step(t, s, id).Open)
	}
	storetest.Refuses(t, s, "is closed", `UPDATE breakers SET closed_at = NULL`)
}

func TestABreakerStaysOpenBehindAFreeze(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for i := range 3 {
		row, _ := storetest.Launched(t, s, fmt.Sprintf("broken-%d", i))
		clock.Pass(time.Minute)
		ends(t, s, row.ID, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "ReleaseBroken", Message: "x", Whose: "installer"})
	}
	advance(t, s)
	var waiting []string
	for i := range 3 {
		row := storetest.Accept(t, s, storetest.Granted(fmt.Sprintf("waits-%d", i)))
		waiting = append(waiting, row.ID)
		require.Empty(t, storetest.Step(t, s, row.ID).Open)
	}
	_, err := s.Brakes.Freeze(t.Context(), lifecycle.Place{Region: "us-east-1"}, 2*time.Hour, nil, admin)
	require.NoError(t, err)
	for range 2 {
		for _, id := range waiting {
			require.Empty(t, storetest.Step(t, s, id).Open)
		}
		clock.Pass(40 * time.Minute)
		require.Empty(t, advance(t, s), "three wait, for the freeze and then for it")
	}
	begun := 0
	for range 4 {
		clock.Pass(20 * time.Minute)
		advance(t, s)
		for _, id := range waiting {
			if storetest.Step(t, s, id).Open == lifecycle.Create {
				begun++
			}
		}
	}
	require.Equal(t, 1, begun, "one is tried")
}

func TestAnAdminClosesABreaker(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for i := range 3 {
		row, _ := storetest.Launched(t, s, fmt.Sprintf("broken-%d", i))
		clock.Pass(time.Minute)
		ends(t, s, row.ID, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "ReleaseBroken", Message: "x", Whose: "installer"})
	}
	advance(t, s)
	list, err := s.Brakes.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, lifecycle.Place{Profile: "aws-minimal-test"}, list[0].Where)
	row := storetest.Accept(t, s, storetest.Granted("waits"))
	require.Empty(t, storetest.Step(t, s, row.ID).Open)
	clock.Pass(time.Second)
	ended, err := s.Brakes.Thaw(t.Context(), list[0].ID, admin)
	require.NoError(t, err)
	require.Len(t, ended, 1)
	require.Empty(t, advance(t, s), "what opened it opens none again")
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, row.ID).Open)
}
