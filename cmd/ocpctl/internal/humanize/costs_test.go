package humanize_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/cmd/ocpctl/internal/humanize"
	"github.com/ocpctl/ocpctl/internal/price"
)

// The CLI reads a cluster's meter from the API's answer and names the cents that the server's pages name.
func TestTheCLINamesThePriceOfTheServersMeter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		start := time.UnixMicro(rapid.Int64Range(1.7e15, 1.9e15).Draw(r, "since")).UTC()
		m := price.Meter{
			Ran: price.Amount(rapid.Int64Range(0, 1e15).Draw(r, "ran")), Since: start,
			Rate: rapid.IntRange(0, 100_000).Draw(r, "rate"), ToCome: rapid.IntRange(0, 100_000).Draw(r, "to come"),
		}
		now := start.Add(time.Duration(rapid.Int64Range(0, 1e15).Draw(r, "ran since")))
		end := now.Add(time.Duration(rapid.Int64Range(0, 1e15).Draw(r, "left")))
		answer, err := json.Marshal(map[string]any{
			"desired": "present", "hourlyCents": m.Rate, "destroyAt": end,
			"meter": map[string]any{"ran": m.Ran, "since": m.Since, "rateCents": m.Rate, "toComeCents": m.ToCome, "saved": m.Less, "savedCents": m.LessNow},
		})
		require.NoError(t, err)
		var c v1.Cluster
		require.NoError(t, json.Unmarshal(answer, &c))
		require.Equal(t, price.Dollars(m.Spent(now)), humanize.Spent(c, now))
		require.Equal(t, price.Dollars(int64(m.Rate))+" an hour by list prices; about "+price.Dollars(m.Spent(now))+" so far, "+
			price.Dollars(m.Total(now, end))+" until its planned end", humanize.Costs(c, now))
	})
}

func TestTheTimeThatNoRunnerWaitedIsSaid(t *testing.T) {
	require.Equal(t, "34 min in which no runner waited", humanize.Saved(v1.Cluster{SavedSeconds: 34 * 60}))
	require.Empty(t, humanize.Saved(v1.Cluster{}))
}

func TestAnEndNamesTheRunThatComesFirst(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	c := v1.Cluster{Desired: v1.Present, DestroyAt: now.Add(2 * time.Hour), EndReason: "the end of its time to live"}
	const alone = "2026-01-02 14:00 UTC (in 2 h): the end of its time to live"
	require.Equal(t, alone, humanize.Ends(c, now))
	c.Run = v1.ClusterRun{State: v1.Running, Lifetime: v1.ClusterRunLifetimeJob}
	require.Equal(t, "with its job, at the latest "+alone, humanize.Ends(c, now))
	c.Run.Unwatched = "no GitHub App is configured"
	require.Equal(t, alone, humanize.Ends(c, now))
	c.Desired = v1.Absent
	require.Empty(t, humanize.Ends(c, now))
}

func TestSinceWhenNobodyUsesAClusterIsSaid(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	require.Empty(t, humanize.Unused(v1.Cluster{}, now), "nothing follows from that")
	said := humanize.Unused(v1.Cluster{Idle: v1.Idle{Since: now.Add(-time.Hour), LastUse: "a job waits for it", EndAt: now.Add(time.Hour)}}, now)
	require.Equal(t, humanize.When(now.Add(-time.Hour), now)+", as far as ocpctl knows; a job waits for it; ends for it "+humanize.When(now.Add(time.Hour), now), said)
	said = humanize.Unused(v1.Cluster{Idle: v1.Idle{Since: now.Add(-time.Hour), Unobserved: true}}, now)
	require.Equal(t, humanize.When(now.Add(-time.Hour), now)+", as far as ocpctl knows; whether people use its API is unknown", said)
}

func TestTheNightsOfAClusterAreSaid(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	closes, opens := now.Add(7*time.Hour), now.Add(19*time.Hour)
	for _, c := range []struct {
		sleep        v1.Sleep
		whole, brief string
	}{
		{v1.Sleep{}, "", ""},
		{v1.Sleep{OffHours: true, SleepsAt: closes}, "falls asleep 2026-11-20 19:00 UTC (in 7 h), unless it is used", "in 7 h"},
		{v1.Sleep{OffHours: true, AwakeUntil: opens}, "kept awake until 2026-11-21 07:00 UTC (in 19 h)", "kept awake for 19 h"},
		{v1.Sleep{OffHours: true, AwakeUntil: opens, SleepsAt: closes.Add(24 * time.Hour)},
			"kept awake until 2026-11-21 07:00 UTC (in 19 h); falls asleep 2026-11-21 19:00 UTC (in 31 h), unless it is used", "kept awake for 19 h, then asleep in 31 h"},
		{v1.Sleep{OffHours: true, AwakeUntil: now.Add(-time.Hour), SleepsAt: closes}, "falls asleep 2026-11-20 19:00 UTC (in 7 h), unless it is used", "in 7 h"},
		{v1.Sleep{Wanted: true, AwakeUntil: opens}, "until somebody wakes it", "until woken"},
		{v1.Sleep{Wanted: true, Until: opens}, "until 2026-11-21 07:00 UTC (in 19 h)", "wakes in 19 h"},
	} {
		require.Equal(t, []string{c.whole, c.brief}, []string{humanize.Sleep(v1.Cluster{Sleep: c.sleep}, now), humanize.Sleeps(v1.Cluster{Sleep: c.sleep}, now)})
	}
}

func TestCostsSayWhatSpotMachinesSave(t *testing.T) {
	require.Contains(t, humanize.Costs(v1.Cluster{HourlyCents: 113, SpotSavesCents: 35}, time.Now()), "$1.13 an hour by list prices, $0.35 less than without spot machines; about ")
}
