package brakes_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/brakes"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// ready has a cluster ready, 40 minutes after its request.
func ready(t *testing.T, s *store.Store, clock *storetest.Clock, g store.Judgement) clusters.Row {
	t.Helper()
	row := storetest.Accept(t, s, g)
	require.Equal(t, lifecycle.Create, storetest.Step(t, s, row.ID).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-"+row.Name)
	require.NoError(t, err)
	storetest.Step(t, s, row.ID)
	clock.Pass(40 * time.Minute)
	storetest.Ready(t, s, row, open, row.Name+"-abcde")
	return storetest.Read(t, s, row.ID)
}

func TestADrainEndsWhatLivesThereAndThawTakesItBack(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	elsewhere := storetest.Granted("elsewhere")
	elsewhere.Row.Region = "eu-west-1"
	other := storetest.Usable(t, s, storetest.Accept(t, s, elsewhere))
	lives := ready(t, s, clock, storetest.Granted("lives"))
	installs, _ := storetest.Claimed(t, s, "installs")
	waits := storetest.Accept(t, s, storetest.Granted("waits"))
	_, err := s.Hold(t.Context(), lives.ID, clock.Now().Add(3*time.Hour), admin)
	require.NoError(t, err)

	where := lifecycle.Place{Platform: "aws", Region: "us-east-1"}
	var short *brakes.ShortFreezeError
	_, err = s.Brakes.Freeze(t.Context(), where, 30*time.Minute, &brakes.Drain{}, admin)
	require.ErrorAs(t, err, &short)
	require.Equal(t, time.Hour, short.Grace)
	brake, err := s.Brakes.Freeze(t.Context(), where, 4*time.Hour, &brakes.Drain{}, admin)
	require.NoError(t, err)
	require.Equal(t, clock.Now().Add(time.Hour), brake.DrainAt, "after the grace of what lives there")
	list, err := s.Brakes.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []lifecycle.Brake{brake}, list)
	for _, row := range []clusters.Row{lives, installs} {
		now := storetest.Read(t, s, row.ID)
		require.Equal(t, brake.DrainAt, now.DestroyAt.UTC(), "a hold does not postpone it")
		require.Equal(t, lifecycle.Reason{Code: lifecycle.ReasonDrain, By: "Will", Words: "AWS has an outage", Name: brake.ID, Where: where}, now.Ends.Reason())
	}
	for _, row := range []clusters.Row{other, waits} {
		require.Zero(t, storetest.Read(t, s, row.ID).Ends.Drain)
	}
	require.Empty(t, storetest.Step(t, s, waits.ID).Open, "it waits, and nothing of it ends")
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'end_set' AND metadata ->> 'end' = 'drain'`))

	clock.Pass(time.Hour - 30*time.Second)
	require.Positive(t, storetest.Step(t, s, lives.ID).Warn, "its people are warned")
	_, err = s.Pool().Exec(t.Context(), `UPDATE freezes SET thawed_at = $1, thawed_by = 'a release before'`, clock.Now())
	require.ErrorContains(t, err, "still ends clusters")
	_, err = s.Brakes.Thaw(t.Context(), brake.ID, admin)
	require.NoError(t, err)
	for _, row := range []clusters.Row{lives, installs} {
		require.Zero(t, storetest.Read(t, s, row.ID).Ends.DrainWhy)
	}
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'end_lifted' AND metadata ->> 'end' = 'drain'`))

	brake, err = s.Brakes.Freeze(t.Context(), where, time.Hour, &brakes.Drain{In: time.Minute}, admin)
	require.NoError(t, err)
	clock.Pass(time.Minute)
	d := storetest.Step(t, s, lives.ID)
	require.Equal(t, lifecycle.Absent, d.Next.Desired)
	require.Equal(t, brake.ID, d.Next.DesiredWhy.Name)
	_, err = s.Brakes.Thaw(t.Context(), "", admin)
	require.NoError(t, err)
	require.Equal(t, brake.DrainAt, storetest.Read(t, s, installs.ID).DestroyAt.UTC(), "it has come")
	require.Equal(t, lifecycle.Absent, storetest.Step(t, s, installs.ID).Next.Desired)
}

func TestOfSeveralDrainsTheEarliestCountsAndTheRestStays(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := ready(t, s, clock, storetest.Granted("shop"))
	later, err := s.Brakes.Freeze(t.Context(), lifecycle.Place{}, 4*time.Hour, &brakes.Drain{In: 2 * time.Hour}, admin)
	require.NoError(t, err)
	team, err := s.Brakes.Freeze(t.Context(), lifecycle.Place{Team: "acme/platform"}, 4*time.Hour, &brakes.Drain{In: 30 * time.Minute}, admin)
	require.NoError(t, err)
	require.Equal(t, team.DrainAt, storetest.Read(t, s, row.ID).DestroyAt.UTC())
	hour, err := s.Brakes.Freeze(t.Context(), lifecycle.Place{Profile: "aws-minimal-test"}, time.Hour+time.Minute, &brakes.Drain{In: time.Hour}, admin)
	require.NoError(t, err)
	require.Equal(t, team.ID, storetest.Read(t, s, row.ID).Ends.DrainWhy.Name)
	clock.Pass(10 * time.Minute)
	_, err = s.Brakes.Thaw(t.Context(), team.ID, admin)
	require.NoError(t, err)
	require.Equal(t, hour.DrainAt, storetest.Read(t, s, row.ID).DestroyAt.UTC(), "its people know of an earlier end already")
	list, err := s.Brakes.List(t.Context())
	require.NoError(t, err)
	_, err = s.Brakes.Thaw(t.Context(), list[1].ID, admin)
	require.NoError(t, err)
	require.Equal(t, later.ID, storetest.Read(t, s, row.ID).Ends.DrainWhy.Name)
	_, err = s.Brakes.Thaw(t.Context(), "", admin)
	require.NoError(t, err)
	require.Zero(t, storetest.Read(t, s, row.ID).Ends.Drain)
}

// A transfer that has read the drains and a thaw wait for each other: no cluster ends by a freeze that was thawed.
func TestATransferDuringAThawGetsNoEndOfIt(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := ready(t, s, clock, storetest.Granted("shop"))
	for range 8 {
		brake, err := s.Brakes.Freeze(t.Context(), lifecycle.Place{Team: "data"}, 4*time.Hour, &brakes.Drain{In: 2 * time.Hour}, admin)
		require.NoError(t, err)
		var both sync.WaitGroup
		both.Go(func() { require.NoError(t, s.Transfer(t.Context(), row.ID, "data", "dora", admin, nil)) })
		both.Go(func() {
			_, err := s.Brakes.Thaw(t.Context(), brake.ID, admin)
			require.NoError(t, err)
		})
		both.Wait()
		require.Zero(t, storetest.Read(t, s, row.ID).Ends.Drain)
		require.NoError(t, s.Transfer(t.Context(), row.ID, "acme/platform", "maya", admin, nil))
	}
}

func TestADrainOfATeamFollowsItsClusters(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := ready(t, s, clock, storetest.Granted("shop"))
	brake, err := s.Brakes.Freeze(t.Context(), lifecycle.Place{Team: "data"}, 4*time.Hour, &brakes.Drain{In: time.Minute}, admin)
	require.NoError(t, err)
	require.Zero(t, storetest.Read(t, s, row.ID).Ends.Drain)
	clock.Pass(time.Hour)
	require.NoError(t, s.Transfer(t.Context(), row.ID, "data", "dora", admin, nil))
	require.Equal(t, clock.Now().Add(time.Hour), storetest.Read(t, s, row.ID).DestroyAt.UTC(), "it has its grace")
	clock.Pass(10 * time.Minute)
	require.NoError(t, s.Transfer(t.Context(), row.ID, "data", "dan", admin, nil))
	require.Equal(t, clock.Now().Add(50*time.Minute), storetest.Read(t, s, row.ID).DestroyAt.UTC(), "within the team, its end stays")
	require.NoError(t, s.Transfer(t.Context(), row.ID, "acme/platform", "maya", admin, nil))
	require.Zero(t, storetest.Read(t, s, row.ID).Ends.Drain)
	clock.Pass(brake.Until.Sub(clock.Now()) - time.Minute)
	require.NoError(t, s.Transfer(t.Context(), row.ID, "data", "dora", admin, nil))
	require.Zero(t, storetest.Read(t, s, row.ID).Ends.Drain, "its grace is longer than the freeze")
}

func TestARecoveryTakesTheEndsOfDrainsAway(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := ready(t, s, clock, storetest.Granted("shop"))
	_, err := s.Brakes.Freeze(t.Context(), lifecycle.Place{}, time.Hour, &brakes.Drain{In: time.Minute}, admin)
	require.NoError(t, err)
	clock.Pass(time.Hour)
	view, err := s.RecoveryView(t.Context(), time.Hour)
	require.NoError(t, err)
	require.True(t, view.Clusters[row.ID].Drained)
	require.NoError(t, s.Brakes.Undrain(t.Context(), []string{row.ID}, admin))
	require.Equal(t, lifecycle.Present, storetest.Step(t, s, row.ID).Next.Desired)
}
