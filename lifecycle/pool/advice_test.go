package pool

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fourWeeks is a history of requests at minutes after midnight, of every day from Monday 2 March 2026 on which the function says so.
func fourWeeks(zone *time.Location, minutesOf func(day int, weekend bool) []int) History {
	since := time.Date(2026, 3, 2, 0, 0, 0, 0, zone)
	h := History{Since: since, Until: since.AddDate(0, 0, 28), Zone: zone, Install: 40 * time.Minute, Wake: 5 * time.Minute}
	for day := range 28 {
		at := since.AddDate(0, 0, day)
		for _, minute := range minutesOf(day, day%7 >= 5) {
			h.Requests = append(h.Requests, at.Add(time.Duration(minute)*time.Minute))
		}
	}
	slices.SortFunc(h.Requests, time.Time.Compare)
	return h
}

func TestTheAdviceIsWhatWasEnoughOnNineOfTenDays(t *testing.T) {
	zone := time.FixedZone("east", 2*3600)
	a := Advise(fourWeeks(zone, func(day int, weekend bool) []int {
		switch {
		case weekend:
			return []int{12 * 60}
		case day == 3 || day == 4: // two of twenty workdays are wild
			return []int{540, 540, 540, 541, 542, 543, 544, 544, 545, 546}
		}
		return []int{9 * 60, 9*60 + 2, 9*60 + 20, 14 * 60}
	}))
	require.Equal(t, HourPlan{Requests: 18*3 + 20, Running: 2}, a.Workdays[9])
	require.Equal(t, HourPlan{Requests: 18, Running: 1}, a.Workdays[14])
	require.Equal(t, HourPlan{}, a.Workdays[12])
	require.Equal(t, HourPlan{Requests: 8, Running: 1}, a.Weekends[12])
	require.Equal(t, 3, a.Size, "three within one install")

	monday := time.Date(2026, 4, 6, 8, 54, 0, 0, zone)
	require.Equal(t, 0, a.RunningAt(monday))
	require.Equal(t, 2, a.RunningAt(monday.Add(time.Minute)), "they are awake when the hour begins")
	require.Equal(t, 2, a.RunningAt(monday.Add(time.Hour).UTC()))
	require.Equal(t, 1, a.RunningAt(monday.AddDate(0, 0, 5).Add(4*time.Hour)))
}

func TestWithoutRequestsNothingIsAdvised(t *testing.T) {
	require.Zero(t, Advise(fourWeeks(time.UTC, func(int, bool) []int { return nil })).Size)
	require.Zero(t, Advise(History{Zone: time.UTC}).Size)
	one := fourWeeks(time.UTC, func(day int, _ bool) []int { return []int{60} })
	one.Wake, one.Install = 0, 0
	require.Equal(t, 1, Advise(one).RunningAt(one.Since.Add(time.Hour)), "however soon another one is awake")
}

// More requests never lead to less, nobody has to be awake who does not wait, and every request is counted once.
func TestMoreRequestsNeverLeadToLess(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		h := fourWeeks(time.UTC, func(int, bool) (minutes []int) {
			for range random.IntN(6) {
				minutes = append(minutes, random.IntN(24*60))
			}
			return minutes
		})
		less := h
		less.Requests = slices.DeleteFunc(slices.Clone(h.Requests), func(time.Time) bool { return random.IntN(3) == 0 })
		more, fewer := Advise(h), Advise(less)
		counted := 0
		for hour := range 24 {
			for _, pair := range [][2]HourPlan{{more.Workdays[hour], fewer.Workdays[hour]}, {more.Weekends[hour], fewer.Weekends[hour]}} {
				require.GreaterOrEqual(t, pair[0].Running, pair[1].Running)
				require.LessOrEqual(t, pair[0].Running, more.Size)
				counted += pair[0].Requests
			}
		}
		require.GreaterOrEqual(t, more.Size, fewer.Size)
		require.Equal(t, len(h.Requests), counted)
	}
}
