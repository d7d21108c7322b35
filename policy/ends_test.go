package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// lives ends at noon and may live for two days more.
func lives() lifecycle.Ends { return lifecycle.Ends{TTL: noon, Max: noon.Add(48 * time.Hour)} }

func TestAnExtensionSaysWhereItEndsAndWhatCutItShort(t *testing.T) {
	closing, atMax, held, briefly, drained := lives(), lives(), lives(), lives(), lives()
	held.Hold, briefly.Hold = noon.Add(6*time.Hour), noon.Add(2*time.Hour)
	drained.Drain, drained.DrainWhy = noon.Add(2*time.Hour), lifecycle.Reason{Code: lifecycle.ReasonDrain, By: "Will", Words: "the account is closed", Where: lifecycle.Place{Account: "1"}}
	closing.PRClosed, atMax.TTL = noon.Add(-time.Hour), atMax.Max
	for name, c := range map[string]struct {
		ends   lifecycle.Ends
		by     time.Duration
		result Result
		text   string
		after  time.Time
	}{
		"as asked":           {lives(), 4 * time.Hour, Pass, "It ends 2025-01-15 16:00 UTC, 4 h later.", noon.Add(4 * time.Hour)},
		"cut short":          {lives(), 72 * time.Hour, Warn, "It ends 2025-01-17 12:00 UTC, 48 h later and not 72 h: that is the maximum of its profile.", noon.Add(48 * time.Hour)},
		"nothing left":       {atMax, time.Hour, Fail, "It already ends at its profile's maximum, 2025-01-17 12:00 UTC.", noon.Add(48 * time.Hour)},
		"no time":            {lives(), 0, Fail, "This is not later than its present end, 2025-01-15 12:00 UTC.", noon},
		"neither":            {atMax, -time.Hour, Fail, "It already ends at its profile's maximum, 2025-01-17 12:00 UTC.", noon.Add(48 * time.Hour)},
		"past a drain":       {drained, 4 * time.Hour, Fail, "It ends 2025-01-15 14:00 UTC: Will is draining the clusters in the account 1: the account is closed. It cannot be extended past that.", noon.Add(4 * time.Hour)},
		"up to a drain":      {drained, 2 * time.Hour, Pass, "It ends 2025-01-15 14:00 UTC, 2 h later.", noon.Add(2 * time.Hour)},
		"something is first": {closing, 4 * time.Hour, Warn, "It ends 2025-01-15 16:00 UTC, 4 h later. Before that it ends 2025-01-15 11:00 UTC: the pull request was closed.", noon.Add(4 * time.Hour)},
		"a hold is last":     {held, 4 * time.Hour, Warn, "It ends 2025-01-15 16:00 UTC, 4 h later. A hold keeps it until 2025-01-15 18:00 UTC.", noon.Add(4 * time.Hour)},
		"after the hold":     {briefly, 4 * time.Hour, Pass, "It ends 2025-01-15 16:00 UTC, 4 h later.", noon.Add(4 * time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			after, check := JudgeExtend(c.ends, c.by)
			require.Equal(t, c.result, check.Result)
			require.Equal(t, c.text, check.Message)
			require.Equal(t, c.after, after.TTL)
			require.Equal(t, c.result != Pass, check.Next != "")
		})
	}
}

func TestAHoldNeverPassesTheMaximum(t *testing.T) {
	for until, want := range map[time.Duration]Result{-time.Second: Fail, 0: Fail, 30 * time.Minute: Warn, time.Hour: Warn, 2 * time.Hour: Pass, 49 * time.Hour: Pass, 49*time.Hour + time.Second: Fail} {
		check := JudgeHold(lives(), noon.Add(until-time.Hour), noon.Add(-time.Hour))
		require.Equal(t, want, check.Result, until)
		require.NotEmpty(t, check.Message)
		require.Equal(t, want != Pass, check.Next != "")
	}
}

func TestAHoldDoesNotPassADrain(t *testing.T) {
	e := lives()
	e.Drain, e.DrainWhy = noon.Add(2*time.Hour), lifecycle.Reason{Code: lifecycle.ReasonDrain, By: "Will"}
	require.Equal(t, Pass, JudgeHold(e, noon.Add(2*time.Hour), noon).Result)
	for _, late := range []time.Time{noon.Add(3 * time.Hour), e.Max.Add(time.Hour)} {
		check := JudgeHold(e, late, noon)
		require.Equal(t, Fail, check.Result)
		require.Equal(t, "after 2025-01-15 12:00 UTC, at most until 2025-01-15 14:00 UTC", check.Accept)
		require.Equal(t, "Ask Will, or any platform admin of every team, to end the drain.", check.Next)
	}
}

func TestADrainAfterTheMaximumRefusesNoHold(t *testing.T) {
	e := lives()
	e.Drain, e.DrainWhy = e.Max.Add(2*time.Hour), lifecycle.Reason{Code: lifecycle.ReasonDrain, By: "Will"}
	require.Equal(t, Pass, JudgeHold(e, e.Max, noon).Result)
	require.Equal(t, "after 2025-01-15 12:00 UTC, at most until 2025-01-17 12:00 UTC", JudgeHold(e, e.Max.Add(3*time.Hour), noon).Accept)
}

func TestNoExtensionPassesTheMaximum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := lives()
		for range 5 {
			after, check := JudgeExtend(e, time.Duration(rapid.Int64Range(-1<<50, 1<<60).Draw(t, "by")))
			require.False(t, after.DestroyAt().After(e.Max))
			require.False(t, after.TTL.Before(e.TTL), "an extension never shortens")
			require.NotEmpty(t, check.Message)
			e = after
		}
	})
}
