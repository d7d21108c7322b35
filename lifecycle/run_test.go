package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTheGraceAfterARunFollowsFromItsConclusion(t *testing.T) {
	for conclusion, want := range map[string]time.Duration{
		"success": 0, "cancelled": 0, "skipped": 0, "neutral": 0, "stale": 0,
		"failure": time.Hour, "timed_out": time.Hour, "startup_failure": time.Hour, "action_required": time.Hour, ConclusionGone: time.Hour,
		"": time.Hour, "something new": time.Hour,
	} {
		require.Equal(t, want, GraceAfter(conclusion, time.Hour), conclusion)
	}
}

func TestAClusterEndsWithItsRunOrItsJob(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	failed, done := Finish{"failure", at}, Finish{"success", at.Add(time.Minute)}
	for name, c := range map[string]struct {
		bound Bound
		at    time.Time
		why   string
	}{
		"a run that goes on":                       {Bound{Lifetime: LifetimeRun, Attempt: 1, Newest: 1}, time.Time{}, ""},
		"a run that failed":                        {Bound{Lifetime: LifetimeRun, Attempt: 1, Newest: 1, Run: failed}, at.Add(time.Hour), "its workflow run failed"},
		"a run that succeeded":                     {Bound{Lifetime: LifetimeRun, Attempt: 1, Newest: 3, Run: done}, at.Add(time.Minute), "its workflow run finished"},
		"a run that goes on in another attempt":    {Bound{Lifetime: LifetimeRun, Attempt: 1, Newest: 2}, time.Time{}, ""},
		"a job that runs":                          {Bound{Lifetime: LifetimeJob, Attempt: 1, Newest: 1}, time.Time{}, ""},
		"a job that failed in a run that goes on":  {Bound{Lifetime: LifetimeJob, Attempt: 1, Newest: 1, Job: failed}, at.Add(time.Hour), "its job failed"},
		"a job that failed in a run that was fine": {Bound{Lifetime: LifetimeJob, Attempt: 1, Newest: 2, Job: failed, Run: done}, at.Add(time.Hour), "its job failed"},
		"a job of which nothing was heard":         {Bound{Lifetime: LifetimeJob, Attempt: 1, Newest: 1, Run: done}, at.Add(time.Minute), "its job finished"},
		"such a job of an older attempt":           {Bound{Lifetime: LifetimeJob, Attempt: 1, Newest: 2, Run: done}, time.Time{}, ""},
		"such a job, and its run is gone":          {Bound{Lifetime: LifetimeJob, Attempt: 1, Newest: 2, Run: Finish{ConclusionGone, at}}, at.Add(time.Hour), "its job was deleted"},
		"a PipelineRun":                            {Bound{Platform: Tekton, Lifetime: LifetimeRun, Attempt: 1, Newest: 1, Run: Finish{"cancelled", at}}, at, "its PipelineRun was cancelled"},
	} {
		c.bound.Grace = time.Hour
		got, why := RunEnd(c.bound)
		require.Equal(t, c.at, got, name)
		require.Equal(t, c.why, why.String(), name)
	}
}

func TestNoEndOfARunComesBeforeItFinishedOrAfterTheGrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		finish := rapid.Custom(func(t *rapid.T) Finish {
			if rapid.Bool().Draw(t, "runs") {
				return Finish{}
			}
			conclusions := []string{"success", "failure", "cancelled", "timed_out", "skipped", "stale", "neutral", "action_required", "startup_failure", ConclusionGone}
			return Finish{rapid.SampledFrom(conclusions).Draw(t, "conclusion"), time.Unix(rapid.Int64Range(1, 1<<33).Draw(t, "at"), 0)}
		})
		b := Bound{
			Lifetime: rapid.SampledFrom([]Lifetime{LifetimeRun, LifetimeJob}).Draw(t, "lifetime"), Attempt: rapid.IntRange(1, 3).Draw(t, "attempt"),
			Grace: time.Duration(rapid.IntRange(0, 1000).Draw(t, "grace")) * time.Second, Job: finish.Draw(t, "job"), Run: finish.Draw(t, "run"),
		}
		b.Newest = b.Attempt + rapid.IntRange(0, 2).Draw(t, "newer")
		at, why := RunEnd(b)
		require.Equal(t, at.IsZero(), why.IsZero())
		if at.IsZero() {
			require.True(t, b.Run.At.IsZero() || b.Lifetime == LifetimeJob && b.Job.At.IsZero() && b.Newest > b.Attempt)
			return
		}
		of := b.Run
		if b.Lifetime == LifetimeJob && !b.Job.At.IsZero() {
			of = b.Job
		}
		require.False(t, at.Before(of.At))
		require.False(t, at.After(of.At.Add(b.Grace)))
	})
}
