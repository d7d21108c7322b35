package runs_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/devstack/github/workflow"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// numbers makes ids.
func numbers() func() int64 {
	last := int64(0)
	return func() int64 { last++; return last }
}

func newRun(id func() int64, jobs ...runs.Job) *runs.Run {
	r := &runs.Run{ID: id(), Attempt: 1, Planned: true, Status: runs.Queued, StartedAt: now, UpdatedAt: now}
	for _, j := range jobs {
		j.ID, j.Name = id(), j.Key
		r.Add(&j, 0)
	}
	return r
}

func one(key string, needs ...string) runs.Job { return runs.Job{Key: key, Needs: needs} }

func names(jobs []*runs.Job) []string {
	var out []string
	for _, j := range jobs {
		out = append(out, j.Name)
	}
	return out
}

func instances(names ...string) workflow.Ready {
	out := workflow.Ready{Run: true, FailFast: true}
	for _, name := range names {
		out.Instances = append(out.Instances, workflow.Instance{Name: name, Matrix: map[string]any{"n": name}, Steps: []string{"Run it"}})
	}
	return out
}

func TestAMatrixTakesThePlaceOfItsJob(t *testing.T) {
	id := numbers()
	r := newRun(id, one("build"), one("test", "build"), one("last", "test"))
	require.Equal(t, []string{"build"}, names(r.Undecided()))
	r.Jobs[0].Complete(runs.Success, now)
	open, conclusion := r.Decide(r.Jobs[1], instances("test (a)", "test (b)"), id, now)
	require.Empty(t, conclusion)
	require.Equal(t, []string{"test (a)", "test (b)"}, names(open))
	require.Equal(t, []string{"build", "test (a)", "test (b)", "last"}, names(r.Current()))
	require.Equal(t, "Set up job", open[1].Steps[0].Name)

	open[0].Status, open[1].Status = runs.Queued, runs.Queued
	open[0].Outputs = map[string]string{"x": "from a"}
	open[0].Complete(runs.Success, now)
	require.Empty(t, r.Undecided(), "the other one of the matrix is open")
	open[1].Complete(runs.Failure, now)
	require.Equal(t, []string{"last"}, names(r.Undecided()))
	place := r.Place(r.Current()[3])
	require.Equal(t, workflow.Need{Result: runs.Failure, Outputs: map[string]string{"x": "from a"}}, place.Needs["test"])
	_, conclusion = r.Decide(r.Current()[3], workflow.Ready{}, id, now)
	require.Equal(t, runs.Skipped, conclusion)
	r.Current()[3].Complete(conclusion, now)
	require.Equal(t, runs.Failure, r.Conclude())
}

func TestWhatEndsAJobAtOnce(t *testing.T) {
	id := numbers()
	for want, c := range map[string]struct {
		ready     workflow.Ready
		cancelled bool
	}{
		runs.Skipped: {workflow.Ready{}, false}, runs.Cancelled: {workflow.Ready{}, true},
		runs.Failure: {workflow.Ready{Run: true, Error: "no such matrix"}, false},
	} {
		r := newRun(id, one("e2e"))
		r.Cancelled = c.cancelled
		_, conclusion := r.Decide(r.Jobs[0], c.ready, id, now)
		require.Equal(t, want, conclusion)
	}
}

func TestFailFastEndsTheOthersOfAMatrix(t *testing.T) {
	id := numbers()
	r := newRun(id, one("test"), one("other"))
	ready := instances("test (a)", "test (b)", "test (c)")
	ready.MaxParallel = 1
	open, _ := r.Decide(r.Jobs[0], ready, id, now)
	require.True(t, r.Room(open[1]))
	open[0].Status = runs.InProgress
	require.False(t, r.Room(open[1]))
	open[0].Complete(runs.Failure, now)
	require.Equal(t, []string{"test (b)", "test (c)"}, names(r.Hopeless(open[0])))
}

func TestAReusableWorkflowEndsWithItsLastJob(t *testing.T) {
	id := numbers()
	r := newRun(id, one("call"), one("after", "call"))
	ready := instances("call")
	ready.Calls = []workflow.PlanJob{{Key: "a", Name: "a"}, {Key: "b", Name: "b", Needs: []string{"a"}}}
	open, _ := r.Decide(r.Jobs[0], ready, id, now)
	require.Empty(t, open, "the job itself is not executed")
	require.Equal(t, []string{"call", "call / a", "call / b", "after"}, names(r.Current()))
	require.Equal(t, []string{"call / a"}, names(r.Undecided()))
	a, b := r.Current()[1], r.Current()[2]
	require.Equal(t, "call", r.Place(a).Caller.Key)
	a.Complete(runs.Success, now)
	_, _, ok := r.Returned(r.Current()[0])
	require.False(t, ok)
	b.Complete(runs.Failure, now)
	result, jobs, ok := r.Returned(r.Current()[0])
	require.True(t, ok)
	require.Equal(t, runs.Failure, result)
	require.Equal(t, runs.Success, jobs["a"].Result)
	r.Current()[0].Complete(result, now)
	r.Current()[3].Complete(runs.Skipped, now)
	r.Status, r.Conclusion = runs.Completed, r.Conclude()
	require.Equal(t, runs.Failure, r.Conclusion)
	require.True(t, r.Rerun(true, "maya", id, now))
	require.Equal(t, []string{"call", "after"}, names(r.Current()), "it is run again as a whole")
}

func TestARerunOfAllStartsFromTheFile(t *testing.T) {
	id := numbers()
	r := newRun(id, one("test"))
	open, _ := r.Decide(r.Jobs[0], instances("test (a)", "test (b)"), id, now)
	require.False(t, r.Rerun(false, "maya", id, now), "it is not completed")
	for _, j := range open {
		j.Complete(runs.Success, now)
	}
	r.Status, r.Conclusion = runs.Completed, runs.Success
	require.False(t, r.Rerun(true, "maya", id, now), "nothing failed")
	require.True(t, r.Rerun(false, "maya", id, now))
	require.Equal(t, []string{"test"}, names(r.Current()), "the matrix is made again")
	require.Equal(t, []string{"test (a)", "test (b)"}, names(r.Latest(1)))
}

func TestOneOfAGroupRunsAndOneWaits(t *testing.T) {
	id := numbers()
	in := func(cancel bool) *runs.Run {
		r := newRun(id, one("e2e"))
		r.Concurrency = workflow.Concurrency{Group: "g", Cancel: cancel}
		return r
	}
	first, second, third, fourth := in(false), in(false), in(false), in(true)
	all := []*runs.Run{first}
	out, wait := runs.Enter(all, runs.Member{Run: first})
	require.Empty(t, out)
	require.False(t, wait)
	all = append(all, second)
	out, wait = runs.Enter(all, runs.Member{Run: second})
	require.Empty(t, out)
	require.True(t, wait)
	second.Status = runs.Pending
	require.False(t, runs.Free(all, runs.Member{Run: second}))
	all = append(all, third)
	out, wait = runs.Enter(all, runs.Member{Run: third})
	require.Equal(t, []runs.Member{{Run: second}}, out, "the newest one waits")
	require.True(t, wait)
	second.Status, third.Status = runs.Completed, runs.Pending
	all = append(all, fourth)
	out, _ = runs.Enter(all, runs.Member{Run: fourth})
	require.Equal(t, []runs.Member{{Run: first}, {Run: third}}, out)
	first.Status = runs.Completed
	require.True(t, runs.Free(all[:3], runs.Member{Run: third}))
}

// TestEveryRunEnds draws workflows, lets their jobs end as it comes, and runs them again.
func TestEveryRunEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := numbers()
		var jobs []runs.Job
		for i := range rapid.IntRange(1, 5).Draw(t, "jobs") {
			j := one(fmt.Sprint("job", i))
			for k := range i {
				if rapid.Bool().Draw(t, "needs") {
					j.Needs = append(j.Needs, fmt.Sprint("job", k))
				}
			}
			jobs = append(jobs, j)
		}
		r := newRun(id, jobs...)
		for attempt := 1; attempt <= 3; attempt++ {
			playOut(t, r, id)
			for key := range 5 {
				of := slices.DeleteFunc(r.Current(), func(j *runs.Job) bool { return j.Key != fmt.Sprint("job", key) })
				require.False(t, key < len(jobs) && len(of) == 0, "job%d is lost in attempt %d", key, attempt)
			}
			failed := rapid.Bool().Draw(t, "only failed")
			before := r.Current()
			if !r.Rerun(failed, "maya", id, now) {
				require.True(t, failed)
				return
			}
			for _, j := range r.Current() {
				if j.Attempt < r.Attempt {
					require.Contains(t, before, j)
					require.Contains(t, []string{runs.Success, runs.Skipped}, j.Conclusion, "a failed job is not kept")
				}
			}
		}
	})
}

// playOut decides and completes jobs in any order until the run ends.
func playOut(t *rapid.T, r *runs.Run, id func() int64) {
	for steps := 0; r.Conclude() == ""; steps++ {
		require.Less(t, steps, 200, "it does not end")
		var running []*runs.Job
		for _, j := range r.Undecided() {
			ready := workflow.Ready{}
			if rapid.IntRange(0, 3).Draw(t, "runs") > 0 {
				ready = instances([]string{j.Key, j.Key + " (b)", j.Key + " (c)"}[:rapid.IntRange(1, 3).Draw(t, "matrix")]...)
				ready.FailFast = false
			}
			open, conclusion := r.Decide(j, ready, id, now)
			if conclusion != "" {
				j.Complete(conclusion, now)
			}
			for _, j := range open {
				j.Status = runs.InProgress
			}
		}
		for _, j := range r.Current() {
			if j.Status == runs.InProgress {
				running = append(running, j)
			}
		}
		if len(running) > 0 {
			j := rapid.SampledFrom(running).Draw(t, "ends")
			j.Complete(rapid.SampledFrom([]string{runs.Success, runs.Failure, runs.Cancelled}).Draw(t, "how"), now)
		}
	}
	r.Status, r.Conclusion = runs.Completed, r.Conclude()
}
