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
	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// runModel is what one life did; how its runs stand, GitHub says.
type runModel struct {
	runs    []int64
	shared  string               // id of a cluster on which runs take turns
	deleted map[int64]github.Run // as they stood
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
		taken := ""
		for _, row := range l.bound(&runModel{runs: []int64{run.ID}}) {
			if row.Run.Slot == r.Slot && row.Run.Attempt == j.Attempt && j.Attempt == run.Attempt {
				taken = row.ID
			}
		}
		made, err := l.create(j.ID, r)
		switch {
		case err != nil:
			require.Contains(t, []app.Kind{app.Conflict, app.Busy}, app.KindOf(err), "%v", err)
		case taken != "":
			require.Equal(t, []any{policy.ReuseRun, true, taken}, []any{r.Reuse, made.Reused, made.Row.ID}, "the slot has a cluster of this attempt")
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
			m.deleted[run.ID] = run
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
			_, err := l.store.Runs.Release(l.Context(), m.shared, use.ID, clusters.Origin{Actor: "test", Why: "its run released it"})
			require.NoError(t, err)
		}
	},
	"a person destroys": func(l *runLife, t *rapid.T, m *runModel) {
		if rows := l.bound(m); len(rows) > 0 && rapid.IntRange(0, 3).Draw(t, "really") == 0 {
			_, err := l.store.Destroy(l.Context(), rapid.SampledFrom(rows).Draw(t, "cluster").ID, clusters.Origin{Actor: "test", Why: "a person wants it"})
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
		l.github.FailNext(rapid.IntRange(1, 30).Draw(t, "n"), github.APIFault{Status: http.StatusBadGateway, Message: "Server Error"})
	},
	"GitHub is back": func(l *runLife, _ *rapid.T) { l.github.Recover() },
	"restart":        func(l *runLife, _ *rapid.T) { l.restart() },
}

// TestWhateverHappensToRunsTheirClustersEndAsTheyDo lives random lives of several runs: they are re-run, cancelled and deleted, jobs get
// lost, of their webhooks some are lost, doubled, late, swapped or forged, GitHub fails now and then, and the server restarts. After the
// last look, each cluster ends exactly as GitHub says that its run or job finished, and every turn is granted or over.
func TestWhateverHappensToRunsTheirClustersEndAsTheyDo(t *testing.T) {
	if old := flag.Lookup("rapid.checks").Value.String(); old == "100" {
		require.NoError(t, flag.Set("rapid.checks", "20"))
		t.Cleanup(func() { require.NoError(t, flag.Set("rapid.checks", old)) })
	}
	if old := flag.Lookup("rapid.steps").Value.String(); old == "30" {
		require.NoError(t, flag.Set("rapid.steps", "60"))
		t.Cleanup(func() { require.NoError(t, flag.Set("rapid.steps", old)) })
	}
	l := newRunLife(t)
	rapid.Check(t, func(t *rapid.T) {
		outer := l.tester
		l.tester = t
		defer func() { l.tester = outer }()
		l.catchUp()
		m := &runModel{deleted: map[int64]github.Run{}}
		own := l.start("a")
		m.runs = append(m.runs, own.ID)
		m.shared = l.created(own.Jobs[0].ID, &app.RunRequest{Lifetime: lifecycle.LifetimeTTL}).ID
		actions := map[string]func(*rapid.T){}
		for name, origin := range runActions {
			for often := range max(1, map[string]int{"create": 4, "ask": 3, "start": 2, "begin": 2, "rerun": 3, "rerun failed": 3, "complete all": 2}[name]) {
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
func (l *runLife) bound(m *runModel) (rows []clusters.Row) {
	l.Helper()
	for _, id := range m.runs {
		page, _, err := l.store.List(l.Context(), store.Filter{Run: fmt.Sprintf("%s/acme/shop/actions/runs/%d", wire.Site(l.github.URL()), id), Limit: 500})
		require.NoError(l, err)
		for _, row := range page {
			if row.Desired == lifecycle.Present {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// conclusion is how GitHub says that a run or a job finished; empty: it runs. deleted: the run was deleted, and GitHub said this before.
func (l *runLife) conclusion(m *runModel, runID, jobID int64) (conclusion string, deleted bool) {
	run, there := l.github.Runs().Get(runID)
	if !there {
		run = m.deleted[runID]
	}
	for _, j := range run.Jobs {
		if j.ID == jobID {
			return j.Conclusion, !there
		}
	}
	return run.Conclusion, !there
}

// boundTo is what is stored of a cluster and its run.
type boundTo struct {
	Run               int64
	Job               int64 // 0: it ends with the run
	RunConclusion     string
	RunFinished       *time.Time
	JobConclusion     string
	JobFinished       *time.Time
	Looked, Confirmed bool
}

// checkRuns holds the clusters against how GitHub says that their runs and jobs stand.
func (l *runLife) checkRuns(m *runModel) {
	l.Helper()
	slots := map[string]string{}
	for _, row := range l.bound(m) {
		var b boundTo
		require.NoError(l, l.store.Pool().QueryRow(l.Context(), `
			SELECT r.key::bigint, CASE WHEN b.lifetime = 'job' THEN b.job::bigint ELSE 0 END, r.conclusion, r.finished_at, b.job_conclusion, b.job_finished_at,
				r.look_at IS NOT NULL, r.confirmed AND b.job_confirmed
			FROM run_clusters b JOIN runs r ON r.id = b.run_id WHERE b.cluster_id = $1`, row.ID).Scan(
			&b.Run, &b.Job, &b.RunConclusion, &b.RunFinished, &b.JobConclusion, &b.JobFinished, &b.Looked, &b.Confirmed))
		said := fmt.Sprintf("%s: %+v, %+v\n%s", row.Name, row.Run, b, strings.Join(l.notes(), "\n"))
		require.True(l, b.Looked, "it is looked at as long as it is wanted: %s", said)
		key := fmt.Sprint(b.Run, " ", row.Run.Slot)
		require.Empty(l, slots[key], "one wanted cluster in a slot: %s", said)
		slots[key] = row.ID
		l.checkEnd(m, row, b, said)
	}
}

func (l *runLife) checkEnd(m *runModel, row clusters.Row, b boundTo, said string) {
	l.Helper()
	of, stored, at := int64(0), b.RunConclusion, b.RunFinished
	if b.Job != 0 && b.JobFinished != nil {
		of, stored, at = b.Job, b.JobConclusion, b.JobFinished
	}
	truth, deleted := l.conclusion(m, b.Run, of)
	if b.Job != 0 && of == 0 && !deleted { // it ends with its run at the latest, which cannot finish before its job
		job, _ := l.conclusion(m, b.Run, b.Job)
		require.Empty(l, job, "the end of the job was not noticed: %s", said)
	}
	before := func(p runs.Past) bool { return p.Conclusion == stored } // nobody was told of the newest attempt before it was deleted
	if deleted && (truth == "" || stored == lifecycle.ConclusionGone) {
		truth = lifecycle.ConclusionGone
	} else if deleted && of == 0 && slices.ContainsFunc(m.deleted[b.Run].Past, before) {
		truth = stored
	}
	require.Equal(l, truth, stored, said)
	require.True(l, b.Confirmed || deleted, "GitHub was asked: %s", said)
	if truth == "" {
		require.Zero(l, row.Ends.RunFinished, said)
		return
	}
	require.NotNil(l, at, said)
	require.Equal(l, at.Add(lifecycle.GraceAfter(truth, 15*time.Minute)).UTC(), row.Ends.RunFinished.UTC(), said)
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
		conclusion, _ := l.conclusion(m, run.ID, number(u.Job))
		require.Empty(l, conclusion, "%+v", u)
	}
	for l.atMostOneTurn(m) > 0 {
		uses, err := l.store.Runs.Uses(l.Context(), m.shared)
		require.NoError(l, err)
		require.NotNil(l, uses[0].GrantedAt)
		_, err = l.store.Runs.Release(l.Context(), m.shared, uses[0].ID, clusters.Origin{Actor: "test", Why: "its run released it"})
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
		_, err := l.store.Destroy(l.Context(), row.ID, clusters.Origin{Actor: "test", Why: "the life is over"})
		require.NoError(l, err)
	}
}
