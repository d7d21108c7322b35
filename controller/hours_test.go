package controller_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/workhours"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// powered has a runner do what the cluster's open attempt is for.
func (h *fixture) powered(id string, kind lifecycle.Kind) {
	h.t.Helper()
	open := h.open(id)
	require.Equal(h.t, kind, open.Kind)
	_, err := h.store.Attempts.Claim(h.ctx, open.Attempt, open.Token, "pod-2")
	require.NoError(h.t, err)
	asleep := kind == lifecycle.Sleep
	h.ends(open, attempts.ResultRow{Outcome: lifecycle.Succeeded, Asleep: &asleep})
}

// It is noon on a Friday. The catalogue is asked at each decision, for the cluster's profile and team, so that a holiday that is added on
// Sunday counts on Monday.
func TestAClusterSleepsOverTheWeekendAndAHolidayThatIsAddedMeanwhile(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	var holidays []string
	h.Hours = func(profile, team string, now time.Time) lifecycle.Hours {
		require.Equal(t, []string{"aws-minimal-test", "platform"}, []string{profile, team})
		s, err := workhours.Parse("UTC", []string{"Mon-Fri 07:00-19:00"}, holidays)
		require.NoError(t, err)
		return lifecycle.HoursAt(s, now, 15*time.Minute, 2*time.Hour)
	}
	row, open := h.install(h.acceptAs("shop", func(a *store.Judgement) {
		a.Row.Profile, a.Row.Team, a.Row.SleepMode, a.Row.OffHours = "aws-minimal-test", "platform", lifecycle.SleepStopped, true
		a.Row.TTL, a.MaxTTL = 240*time.Hour, 240*time.Hour
	}))
	_, err := h.store.Attempts.Result(h.ctx, open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded, Outputs: &clusters.Outputs{KubeconfigRef: "s3://b/operate/k"}})
	require.NoError(t, err)
	h.reconcile(row.ID)
	friday := time.Date(2026, 11, 20, 19, 0, 0, 0, time.UTC)
	require.Equal(t, friday.Add(-30*time.Minute), h.cluster(row.ID).WakeAt.UTC(), "in time for the warning")

	h.pass(friday.Sub(h.now()))
	h.reconcile(row.ID)
	h.powered(row.ID, lifecycle.Sleep)
	require.Equal(t, lifecycle.PhaseAsleep, h.cluster(row.ID).Phase)
	monday := time.Date(2026, 11, 23, 6, 45, 0, 0, time.UTC)
	require.Equal(t, monday, h.cluster(row.ID).SleepUntil.UTC())

	holidays = []string{"2026-11-23"}
	h.pass(monday.Sub(h.now()))
	h.reconcile(row.ID)
	require.Equal(t, lifecycle.PhaseAsleep, h.cluster(row.ID).Phase)
	require.Equal(t, monday.Add(24*time.Hour), h.cluster(row.ID).SleepUntil.UTC())

	h.pass(24 * time.Hour)
	h.reconcile(row.ID)
	require.Equal(t, lifecycle.Waking, h.cluster(row.ID).Phase)
	h.powered(row.ID, lifecycle.Wake)
	require.True(t, h.cluster(row.ID).Usable())
}
