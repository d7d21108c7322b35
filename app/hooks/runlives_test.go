package hooks

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// runModel is what one life did; how its runs stand, GitHub says.
type runModel struct {
	runs   []int64
	shared string // id of a cluster on which runs take turns
}

// aRun is a run of the life, as GitHub has it; false: it has none, or it was deleted.
func (m *runModel) aRun(l *runLife, t *rapid.T) (github.Run, bool) {
	if len(m.runs) == 0 {
		return github.Run{}, false
	}
	return l.github.Runs().Get(rapid.SampledFrom(m.runs).Draw(t, "run"))
}

// aJob is a job of a run's newest attempt.
func (m *runModel) aJob(l *runLife, t *rapid.T) (github.Run, *github.Job) {
	run, there := m.aRun(l, t)
	if !there {
		return run, nil
	}
	return run, rapid.SampledFrom(run.Latest(run.Attempt)).Draw(t, "job")
}

// running are the jobs that a runner has.
func running(run github.Run, j *github.Job) bool {
	return j != nil && j.Attempt == run.Attempt && j.Status == "in_progress"
}

var conclusions = []string{"success", "success", "failure", "failure", "cancelled", "timed_out"}

// runActions are what people, pipelines and GitHub do. What is not possible changes nothing.
var runActions = map[string]func(l *runLife, t *rapid.T, m *runModel){
	"start": func(l *runLife, t *rapid.T, m *runModel) {
		if len(m.runs) < 4 {
			m.runs = append(m.runs, l.start([]string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "jobs")]...).ID)
		}
	},
	"begin": func(l *runLife, t *rapid.T, m *runModel) {
		if _, j := m.aJob(l, t); j != nil {
			_ = l.github.Runs().Begin(j.ID)
		}
	},
	"create": func(l *runLife, t *rapid.T, m *runModel) {
		run, j := m.aJob(l, t)
		if j == nil || !running(run, j) && rapid.IntRange(0, 4).Draw(t, "late") > 0 {
			return
		}
		r := &app.RunRequest{
			Slot: rapid.SampledFrom([]string{"", "x", j.Name}).Draw(t, "slot"), Reuse: rapid.SampledFrom([]policy.Reuse{policy.ReuseNone, policy.ReuseRun}).Draw(t, "reuse"),
			Lifetime: rapid.SampledFrom([]lifecycle.Lifetime{lifecycle.LifetimeRun, lifecycle.LifetimeJob}).Draw(t, "lifetime"),
		}
		if made, err := l.create(j.ID, r); err != nil || made.Row.ID == "" {
			require.Contains(t, []app.Kind{app.Conflict, app.Busy}, app.KindOf(err), "%v", err)
		}
	},
	"complete": func(l *runLife, t *rapid.T, m *runModel) {
		if _, j := m.aJob(l, t); j != nil {
			_ = l.github.Runs().Complete(j.ID, rapid.SampledFrom(conclusions).Draw(t, "conclusion"))
		}
	},
	"complete all": func(l *runLife, t *rapid.T, m *runModel) {
		if run, there := m.aRun(l, t); there {
			_ = l.github.Runs().CompleteAll(run.ID, rapid.SampledFrom(conclusions).Draw(t, "conclusion"))
		}
	},
	"cancel": func(l *runLife, t *rapid.T, m *runModel) {
		if run, there := m.aRun(l, t); there {
			_ = l.github.Runs().Cancel(run.ID, "maya")
		}
	},
	"rerun": func(l *runLife, t *rapid.T, m *runModel) {
		if run, there := m.aRun(l, t); there {
			_ = l.github.Runs().Rerun(run.ID, "maya")
		}
	},
	"rerun failed": func(l *runLife, t *rapid.T, m *runModel) {
		if run, there := m.aRun(l, t); there {
			_ = l.github.Runs().RerunFailed(run.ID, "maya")
		}
	},
	"delete": func(l *runLife, t *rapid.T, m *runModel) {
		if run, there := m.aRun(l, t); there && rapid.IntRange(0, 3).Draw(t, "really") == 0 {
			_ = l.github.Runs().Delete(run.ID)
		}
	},
	"ask": func(l *runLife, t *rapid.T, m *runModel) {
		run, j := m.aJob(l, t)
		if m.shared == "" || j == nil || !running(run, j) && rapid.IntRange(0, 4).Draw(t, "late") > 0 {
			return
		}
		if _, _, err := l.core.AskUse(l.Context(), l.as(j.ID), m.shared, policy.PipelineRun{}, app.Origin{}); err != nil {
			require.Equal(t, app.Conflict, app.KindOf(err), "%v", err)
		}
	},
	"release": func(l *runLife, t *rapid.T, m *runModel) {
		uses, err := l.store.Runs.Uses(l.Context(), m.shared)
		require.NoError(t, err)
		if len(uses) > 0 {
			use := rapid.SampledFrom(uses).Draw(t, "turn")
			_, err := l.store.Runs.Release(l.Context(), m.shared, use.ID, store.Origin{Actor: "test", Why: "its run released it"})
			require.NoError(t, err)
		}
	},
	"a person destroys": func(l *runLife, t *rapid.T, m *runModel) {
		if rows := l.bound(m); len(rows) > 0 && rapid.IntRange(0, 3).Draw(t, "really") == 0 {
			_, err := l.store.Destroy(l.Context(), rapid.SampledFrom(rows).Draw(t, "cluster").ID, store.Origin{Actor: "test", Why: "a person wants it"})
			require.NoError(t, err)
		}
	},
	"forge": func(l *runLife, t *rapid.T, m *runModel) {
		if run, there := m.aRun(l, t); there {
			l.forge(rapid.SampledFrom([]string{"workflow_run", "workflow_job"}).Draw(t, "event"), "completed", &run, rapid.IntRange(1, run.Attempt+1).Draw(t, "attempt"), "cancelled")
		}
	},
}

// runHaps are what else happens.
var runHaps = map[string]func(l *runLife, t *rapid.T){
	"release webhooks": func(l *runLife, _ *rapid.T) { l.github.Release() },
	"work":             func(l *runLife, t *rapid.T) { l.workSome(t) },
	"look":             func(l *runLife, _ *rapid.T) { l.lookAtRuns() },
	"time passes": func(l *runLife, t *rapid.T) {
		l.at.pass(time.Duration(rapid.IntRange(1, 180).Draw(t, "seconds")) * time.Second)
		l.tick(time.Second)
	},
	"outage": func(l *runLife, t *rapid.T) {
		l.github.FailNext(rapid.IntRange(1, 6).Draw(t, "n"), github.APIFault{Status: http.StatusBadGateway, Message: "Server Error"})
	},
	"restart": func(l *runLife, _ *rapid.T) { l.restart() },
}

// TestWhateverHappensToRunsTheirClustersEndAsTheyDo lives random lives of several runs: they are re-run, cancelled and deleted, jobs get
// lost, of their webhooks some are lost, doubled, late, swapped or forged, GitHub fails now and then, and the server restarts. After the
// last look, each cluster ends exactly as GitHub says that its run or job finished, and every turn is granted or over.
func TestWhateverHappensToRunsTheirClustersEndAsTheyDo(t *testing.T) {
	if old := flag.Lookup("rapid.checks").Value.String(); old == "100" {
		require.NoError(t, flag.Set("rapid.checks", "20"))
		t.Cleanup(func() { require.NoError(t, flag.Set("rapid.checks", old)) })
	}
	l := newRunLife(t)
	rapid.Check(t, func(t *rapid.T) {
		outer := l.tester
		l.tester = t
		defer func() { l.tester = outer }()
		l.catchUp()
		m := &runModel{}
		own := l.start("a")
		m.runs = append(m.runs, own.ID)
		m.shared = l.created(own.Jobs[0].ID, &app.RunRequest{Lifetime: lifecycle.LifetimeTTL}).ID
		actions := map[string]func(*rapid.T){}
		for name, origin := range runActions {
			for often := range max(1, map[string]int{"create": 4, "ask": 3, "start": 2}[name]) {
				actions[fmt.Sprint(name, " ", often)] = func(t *rapid.T) {
					l.fate(rapid.SampledFrom(slices.Sorted(maps.Keys(fates))).Draw(t, "webhooks"))
					origin(l, t, m)
					l.arrive()
					l.atMostOneTurn(m)
				}
			}
		}
		for name, hap := range runHaps {
			actions[name] = func(t *rapid.T) { hap(l, t); l.arrive(); l.atMostOneTurn(m) }
		}
		t.Repeat(actions)
		l.restRuns()
		l.checkRuns(m)
		l.checkTurns(m)
		l.clearRuns(m)
	})
}

// restRuns ends all trouble and lets everything in, then everybody looks until nothing is due.
func (l *runLife) restRuns() {
	l.Helper()
	l.fate("come")
	l.github.Recover()
	l.settle()
	for range 4 {
		l.catchUp()
		l.at.pass(2*time.Minute + time.Second)
		l.lookAtRuns()
		l.settle()
	}
}

// bound are the wanted clusters of the life's runs.
func (l *runLife) bound(m *runModel) (rows []store.Row) {
	l.Helper()
	for _, id := range m.runs {
		page, _, err := l.store.List(l.Context(), store.Filter{Run: l.github.URL() + fmt.Sprintf("acme/shop/actions/runs/%d", id), Limit: 500})
		require.NoError(l, err)
		for _, row := range page {
			if row.Desired == lifecycle.Present {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// finish is how GitHub says that something finished; empty: it runs.
func (l *runLife) finish(runID, jobID int64) string {
	run, there := l.github.Runs().Get(runID)
	if !there {
		return lifecycle.ConclusionGone
	}
	if jobID == 0 {
		return run.Conclusion
	}
	for _, j := range run.Jobs {
		if j.ID == jobID {
			return j.Conclusion
		}
	}
	return lifecycle.ConclusionGone
}

// checkRuns holds the clusters against how GitHub says that their runs and jobs stand.
func (l *runLife) checkRuns(m *runModel) {
	l.Helper()
	slots := map[string]string{}
	for _, row := range l.bound(m) {
		var runID, jobID int64
		var finished, jobFinished *time.Time
		var look bool
		require.NoError(l, l.store.Pool().QueryRow(l.Context(), `
			SELECT r.key::bigint, CASE WHEN b.lifetime = 'job' THEN b.job::bigint ELSE 0 END, r.finished_at, b.job_finished_at, r.look_at IS NOT NULL
			FROM run_clusters b JOIN runs r ON r.id = b.run_id WHERE b.cluster_id = $1`, row.ID).Scan(&runID, &jobID, &finished, &jobFinished, &look))
		said := fmt.Sprintf("%s of run %d, job %d: %+v\n%s", row.Name, runID, jobID, row.Run, strings.Join(l.notes(), "\n"))
		require.True(l, look, "it is looked at as long as it is wanted: %s", said)
		key := fmt.Sprint(runID, " ", row.Run.Slot)
		require.Empty(l, slots[key], "one wanted cluster in a slot: %s", said)
		slots[key] = row.ID

		conclusion, at := l.finish(runID, jobID), finished
		switch {
		case jobID != 0 && (conclusion == "" || conclusion == lifecycle.ConclusionGone): // it ends with its run at the latest
			conclusion = l.finish(runID, 0)
		case jobID != 0:
			at = jobFinished
		}
		if conclusion == "" {
			require.Zero(l, row.Ends.RunFinished, said)
			continue
		}
		require.NotNil(l, at, said)
		want := at.Add(lifecycle.GraceAfter(conclusion, 15*time.Minute))
		require.Equal(l, want.UTC(), row.Ends.RunFinished.UTC(), "%s: %s", conclusion, said)
	}
}

// atMostOneTurn checks that nobody shares a turn, and that nobody waits for nobody.
func (l *runLife) atMostOneTurn(m *runModel) (open int) {
	l.Helper()
	granted := 0
	for _, state := range l.turns(m.shared) {
		switch state {
		case "granted":
			granted++
		case "waiting":
			require.Equal(l, 1, granted, "somebody waits, and nobody has the turn")
		default:
			continue
		}
		open++
	}
	require.LessOrEqual(l, granted, 1)
	return open
}

// checkTurns checks that no turn outlasts its job or its attempt, and that everybody who waits gets it in the end.
func (l *runLife) checkTurns(m *runModel) {
	l.Helper()
	uses, err := l.store.Runs.Uses(l.Context(), m.shared)
	require.NoError(l, err)
	for _, u := range uses {
		if u.ReleasedAt != nil {
			continue
		}
		run, there := l.github.Runs().Get(number(u.Key))
		require.True(l, there, "a deleted run keeps a turn: %+v", u)
		require.Equal(l, run.Attempt, u.Attempt, "%+v", u)
		require.Empty(l, l.finish(run.ID, number(u.Job)), "%+v", u)
	}
	for l.atMostOneTurn(m) > 0 {
		uses, err := l.store.Runs.Uses(l.Context(), m.shared)
		require.NoError(l, err)
		require.NotNil(l, uses[0].GrantedAt)
		_, err = l.store.Runs.Release(l.Context(), m.shared, uses[0].ID, store.Origin{Actor: "test", Why: "its run released it"})
		require.NoError(l, err)
	}
}

func number(text string) (n int64) {
	_, _ = fmt.Sscan(text, &n) // of the stand-in
	return n
}

// clearRuns ends what a life leaves, so that the next one looks at its own alone.
func (l *runLife) clearRuns(m *runModel) {
	l.Helper()
	for _, row := range append(l.bound(m), l.row(m.shared)) {
		_, err := l.store.Destroy(l.Context(), row.ID, store.Origin{Actor: "test", Why: "the life is over"})
		require.NoError(l, err)
	}
}
