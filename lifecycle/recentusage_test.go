package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWhatWasUsedLongAgoCountsLess(t *testing.T) {
	const week = 7 * 24 * time.Hour
	first := RecentUsage{}.Advance(800, noon, week)
	require.Equal(t, RecentUsage{800, 800, noon}, first, "nothing was kept before")
	later := noon.Add(week)
	require.Equal(t, RecentUsage{400, 800, later}, first.Advance(800, later, week))
	require.Equal(t, RecentUsage{700, 1100, later}, first.Advance(1100, later, week), "and what came since counts in full")
	next := time.Date(2026, 12, 4, 12, 0, 0, 0, time.UTC) // two weeks later, in the next month
	require.Equal(t, RecentUsage{230, 30, next}, first.Advance(30, next, week))
	require.Equal(t, RecentUsage{0, 0, noon}, first.Advance(0, noon, week), "its cluster went to another team with what it cost")
	require.Equal(t, first, first.Advance(800, noon, week), "done twice, it is as if done once")
}

// Kept once an hour or once a day, it is the same.
func TestHowOftenRecentUsageIsKeptDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := RecentUsage{Amount: rapid.Int64Range(0, 1e12).Draw(t, "amount"), Spent: 1e9, At: noon}
		hours, halfLife := rapid.IntRange(2, 200).Draw(t, "hours"), time.Duration(rapid.IntRange(1, 1000).Draw(t, "halfLife"))*time.Hour
		often, end := start, noon.Add(time.Duration(hours)*time.Hour)
		for h := range hours {
			often = often.Advance(1e9, noon.Add(time.Duration(h+1)*time.Hour), halfLife)
		}
		once := start.Advance(1e9, end, halfLife)
		require.InDelta(t, once.Amount, often.Amount, float64(hours), "each rounding is of half a unit at most")
		require.LessOrEqual(t, often.Amount, start.Amount)
	})
}

func TestAmongEqualsTheTeamThatUsedLessComesFirst(t *testing.T) {
	uses := func(w Waiter, cents int64) Waiter { w.Used = cents; return w }
	a, b := uses(waits(1, "a", "maya", all(1)), 500), uses(waits(2, "b", "will", all(1)), 40)
	heavy, urgent, borrower := a, a, a
	heavy.Weight, urgent.Priority = 20, 50
	cohort := cohortOf(map[string]int{"a": 0, "b": 1})
	borrower.Limits = []Limit{cohort}
	own := uses(waits(2, "b", "will", cohort), 900)
	for name, c := range map[string]struct {
		waiting []Waiter
		held    []Holder
		first   string
	}{
		"less is first":                       {[]Waiter{a, b}, nil, "b-2"},
		"for its weight":                      {[]Waiter{heavy, b}, nil, "a-1"},
		"a priority counts more":              {[]Waiter{urgent, b}, nil, "a-1"},
		"as does what a team has now":         {[]Waiter{uses(waits(1, "a", "maya", all(2)), 500), uses(waits(2, "b", "will", all(2)), 40)}, live("b", 1), "a-1"},
		"and a guarantee within a cohort":     {[]Waiter{borrower, own}, nil, "b-2"},
		"of two that used as much, the older": {[]Waiter{a, uses(b, 500)}, nil, "a-1"},
	} {
		t.Run(name, func(t *testing.T) {
			granted, _ := Take(c.waiting, c.held)
			require.Equal(t, []string{c.first}, granted)
		})
	}

	one := "everybody together may have 1 cluster live at once (quota all)"
	_, places := Take([]Waiter{a, b, waits(3, "b", "will", teamLimit("b", CountLive, 1))}, append(live("c", 1), live("b", 1)...))
	require.Equal(t, map[string]Turn{
		"a-1": {Position: 1, For: one + "; among equals, teams that used less lately come before team a", ETA: noon.Add(time.Hour)}, // b has a live one
		"b-2": {Position: 2, For: one},
		"b-3": {Position: 2, For: "team b may have 1 cluster live at once (quota teams)"},
	}, places)
}

func TestOfEqualCreatesTheTeamThatUsedLessGetsTheRunner(t *testing.T) {
	much, little := awaits(1, Create, "a", east), awaits(2, Create, "b", east)
	much.Used, little.Used = 500, 40
	next, places := RunnerCaps{All: 2}.Take([]RunnerWaiter{much, little, awaits(3, Destroy, "c", east)}, nil)
	require.Equal(t, []string{"destroy-3", "create-2"}, next)
	require.Equal(t, "at most 2 run at once in this installation", places["create-1"].For, "nobody else waits any more")
	_, places = RunnerCaps{All: 2}.Take([]RunnerWaiter{much, awaits(3, Destroy, "c", east)}, running(2, Destroy, "c", east))
	require.NotContains(t, places["create-1"].For, "used less", "a teardown is of no team here")
	heavy := awaits(3, Destroy, "a", east)
	heavy.Used = 500
	_, places = RunnerCaps{All: 1}.Take([]RunnerWaiter{much, little, heavy}, running(1, Destroy, "c", east))
	require.Equal(t, "at most 1 run at once in this installation", places["destroy-3"].For, "teardowns come first, whatever their team used")
}
