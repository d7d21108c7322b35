package hooks

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/github"
	hubruns "github.com/ocpctl/ocpctl/devstack/github/runs"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	stored "github.com/ocpctl/ocpctl/store/runs"
)

func slot(name string) *app.RunRequest { return &app.RunRequest{Slot: name} }

func reused(name string) *app.RunRequest { return &app.RunRequest{Slot: name, Reuse: policy.ReuseRun} }

func ofJob(name string) *app.RunRequest {
	return &app.RunRequest{Slot: name, Lifetime: lifecycle.LifetimeJob}
}

func TestARunThatIsCancelledByTheNextOneEndsItsClusterAtOnce(t *testing.T) {
	l := newRunLife(t)
	run := l.start("e2e")
	row := l.created(run.Jobs[0].ID, nil)
	l.settle()
	require.Empty(t, l.ends(row.ID))
	require.NoError(t, l.github.Runs().Cancel(run.ID, "maya"))
	l.settle()
	require.Equal(t, "0s its workflow run was cancelled", l.ends(row.ID))
	gone := l.decide(row.ID)
	require.Equal(t, lifecycle.Absent, gone.Desired)
	require.Equal(t, "its workflow run was cancelled", gone.DesiredWhy.String())
}

func TestARunThatFailedLeavesItsClusterForTheNextAttempt(t *testing.T) {
	l := newRunLife(t)
	run := l.start("build", "e2e")
	row := l.created(run.Jobs[1].ID, reused("e2e"))
	require.NoError(t, l.github.Runs().Complete(run.Jobs[0].ID, "success"))
	require.NoError(t, l.github.Runs().Complete(run.Jobs[1].ID, "failure"))
	l.settle()
	require.Equal(t, "15m0s its workflow run failed", l.ends(row.ID))
	require.Equal(t, lifecycle.Present, l.decide(row.ID).Desired, "people look for the cause")

	l.at.pass(10 * time.Minute)
	require.NoError(t, l.github.Runs().RerunFailed(run.ID, "maya"))
	second := l.run(run.ID).Latest(2)[1]
	require.NoError(t, l.github.Runs().Begin(second.ID))
	l.settle()
	require.Empty(t, l.ends(row.ID), "the run goes on")
	again, err := l.create(second.ID, reused("e2e"))
	require.NoError(t, err)
	require.True(t, again.Reused)
	require.Equal(t, row.ID, again.Row.ID)
	require.NoError(t, l.github.Runs().CompleteAll(run.ID, "success"))
	l.settle()
	require.Equal(t, "0s its workflow run finished", l.ends(row.ID))
}

func TestTheTokenOfANewAttemptLiftsAnEndBeforeAnyEventComes(t *testing.T) {
	l := newRunLife(t)
	run := l.start("one", "two")
	one, two := l.created(run.Jobs[0].ID, reused("one")), l.created(run.Jobs[1].ID, reused("two"))
	require.NoError(t, l.github.Runs().CompleteAll(run.ID, "failure"))
	l.settle()
	require.Equal(t, "15m0s its workflow run failed", l.ends(two.ID))
	l.github.DropNext(1000)
	require.NoError(t, l.github.Runs().Rerun(run.ID, "maya"))
	again := l.created(l.run(run.ID).Latest(2)[0].ID, reused("one"))
	require.Equal(t, one.ID, again.ID)
	require.Empty(t, l.ends(one.ID))
	require.Empty(t, l.ends(two.ID), "the other job of the new attempt has not asked yet")
}

func TestARerunOfAllJobsWithoutReuseReplacesTheClusters(t *testing.T) {
	l := newRunLife(t)
	run := l.start("e2e")
	old := l.created(run.Jobs[0].ID, nil)
	require.NoError(t, l.github.Runs().CompleteAll(run.ID, "failure"))
	l.settle()
	require.NoError(t, l.github.Runs().Rerun(run.ID, "maya"))
	next := l.created(l.run(run.ID).Latest(2)[0].ID, nil)
	require.NotEqual(t, old.ID, next.ID)
	require.Equal(t, "a newer attempt of its run has a new cluster, "+next.Name, l.row(old.ID).DesiredWhy.String())
	_, err := l.create(run.Jobs[0].ID, nil)
	require.Equal(t, app.Conflict, app.KindOf(err), "a late request of the first attempt")
}

func TestALostRunnerIsAFailedJob(t *testing.T) {
	l := newRunLife(t)
	run := l.start("e2e", "other")
	row := l.created(run.Jobs[0].ID, ofJob("e2e"))
	whole := l.created(run.Jobs[1].ID, slot("other"))
	require.NoError(t, l.github.Runs().Complete(run.Jobs[0].ID, "failure")) // GitHub ends the job of a runner that it hears nothing of
	l.settle()
	require.Equal(t, "15m0s its job failed", l.ends(row.ID))
	require.Empty(t, l.ends(whole.ID), "the run goes on")
	l.at.pass(time.Minute)
	require.NoError(t, l.github.Runs().Complete(run.Jobs[1].ID, "success"))
	l.settle()
	require.Equal(t, "14m0s its job failed", l.ends(row.ID), "the end of the run changes nothing for it")
	require.Equal(t, "15m0s its workflow run failed", l.ends(whole.ID))
}

func TestTenJobsOfAMatrixHaveTenClusters(t *testing.T) {
	l := newRunLife(t)
	var names []string
	for n := range 10 {
		names = append(names, fmt.Sprintf("e2e-%d", n))
	}
	run := l.start(names...)
	var ids []string
	for n, job := range run.Jobs {
		ids = append(ids, l.created(job.ID, slot(names[n])).ID)
	}
	_, err := l.create(run.Jobs[3].ID, slot(names[4]))
	require.ErrorContains(t, err, "The run has the cluster c5 in this slot.")
	require.NoError(t, l.github.Runs().CompleteAll(run.ID, "success"))
	l.settle()
	for _, id := range ids {
		require.Equal(t, "0s its workflow run finished", l.ends(id))
	}
}

func TestWhatNobodyToldOfARunIsFoundOut(t *testing.T) {
	l := newRunLife(t)
	run := l.start("e2e")
	row := l.created(run.Jobs[0].ID, ofJob(""))
	l.settle()
	l.github.DropNext(1000)
	require.NoError(t, l.github.Runs().Complete(run.Jobs[0].ID, "cancelled"))
	l.lookAtRuns()
	require.Empty(t, l.ends(row.ID), "it is asked about a minute after it was heard of")
	l.at.pass(time.Minute)
	l.lookAtRuns()
	require.Equal(t, "0s its job was cancelled", l.ends(row.ID))
	require.Equal(t, "cancelled", l.known(run).Conclusion)
	l.decide(row.ID)
	l.at.pass(2 * time.Minute)
	l.lookAtRuns()
	require.Nil(t, l.known(run).LookAt, "nothing depends on it any more")
}

func TestAForgedEventEndsNothingWhileGitHubAnswers(t *testing.T) {
	l := newRunLife(t)
	run := l.start("e2e")
	row := l.created(run.Jobs[0].ID, nil)
	l.settle()
	l.forge("workflow_run", "completed", run, 1, "cancelled")
	l.settle()
	require.Empty(t, l.ends(row.ID))
	require.Contains(t, strings.Join(l.notes(), "\n"), "attempt 1 is running, and the event says otherwise: asking again")
	l.forge("workflow_run", "in_progress", run, 7, "")
	l.settle()
	require.Equal(t, 1, l.known(run).Attempt)

	require.NoError(t, l.github.Runs().CompleteAll(run.ID, "failure"))
	l.settle()
	require.NoError(t, l.github.Runs().Rerun(run.ID, "maya"))
	require.NoError(t, l.github.Runs().Begin(l.run(run.ID).Latest(2)[0].ID))
	l.settle()
	require.Empty(t, l.ends(row.ID))
	l.forge("workflow_run", "completed", run, 1, "failure") // late, doubled
	l.settle()
	require.Empty(t, l.ends(row.ID))
	require.Contains(t, strings.Join(l.notes(), "\n"), "attempt 2 replaced this one")
}

func TestWhileGitHubDoesNotAnswerAnEventEndsTheClusterUntilItDoes(t *testing.T) {
	l := newRunLife(t)
	run := l.start("e2e", "other")
	row, byJob := l.created(run.Jobs[0].ID, nil), l.created(run.Jobs[1].ID, ofJob("job"))
	shared := l.created(run.Jobs[1].ID, &app.RunRequest{Slot: "shared", Lifetime: lifecycle.LifetimeTTL})
	_, _, err := l.core.AskUse(t.Context(), l.as(run.Jobs[1].ID), shared.ID, policy.PipelineRun{}, app.Origin{})
	require.NoError(t, err)
	l.settle()
	l.github.FailNext(1000, github.APIFault{Status: http.StatusBadGateway})
	l.forge("workflow_run", "completed", run, 1, "failure")
	l.forge("workflow_job", "completed", run, 1, "failure")
	l.arrive()
	for _, row := range l.undone() {
		_ = l.work(row)
	}
	require.Equal(t, "15m0s its workflow run failed", l.ends(row.ID))
	require.Equal(t, "15m0s its job failed", l.ends(byJob.ID))
	require.Equal(t, []string{"granted"}, l.turns(shared.ID), "nobody else gets the turn by a webhook alone")
	l.github.Recover()
	l.at.pass(2 * time.Minute)
	l.lookAtRuns()
	require.Empty(t, l.ends(row.ID), "GitHub says that it is running")
	require.Empty(t, l.ends(byJob.ID))
}

func TestADeletedRunEndsAfterTwoAnswers(t *testing.T) {
	l := newRunLife(t)
	run := l.start("e2e")
	row := l.created(run.Jobs[0].ID, nil)
	l.settle()
	l.github.DropNext(1000)
	require.NoError(t, l.github.Runs().Cancel(run.ID, "maya"))
	require.NoError(t, l.github.Runs().Delete(run.ID))
	for range 2 {
		l.at.pass(time.Minute)
		require.Empty(t, l.ends(row.ID))
		l.lookAtRuns()
	}
	require.Equal(t, "15m0s its workflow run was deleted", l.ends(row.ID))
}

func TestARunThatTheAppCannotSeeIsNoDeletedOne(t *testing.T) {
	l := newRunLife(t)
	run := l.start("e2e")
	row := l.created(run.Jobs[0].ID, nil)
	l.settle()
	look := func() {
		l.at.pass(10 * time.Minute)
		l.lookAtRuns()
	}
	look()
	require.NoError(t, l.github.Uninstall("ada"))
	for range 3 {
		look()
	}
	require.Empty(t, l.ends(row.ID))
	require.Equal(t, "the GitHub App is not installed on acme/shop", l.row(row.ID).Run.Unwatched)
	another := l.created(l.start("e2e").Jobs[0].ID, nil)
	require.Equal(t, "the GitHub App is not installed on acme/shop", another.Run.Unwatched, "it is known of the repository")

	_, err := l.github.Install("ada")
	require.NoError(t, err)
	look()
	require.Empty(t, l.row(row.ID).Run.Unwatched)
	m := github.Registered()
	delete(m.Permissions, "actions")
	l.github.SetManifest(m)
	look()
	require.Contains(t, l.row(row.ID).Run.Unwatched, "it needs the permission Actions: read there")
	require.Empty(t, l.ends(row.ID))
	l.github.SetManifest(github.Registered())
	l.github.DropNext(1000)
	require.NoError(t, l.github.Runs().CompleteAll(run.ID, "success"))
	look()
	require.Equal(t, "0s its workflow run finished", l.ends(row.ID))
}

func TestEventsOfRunsThatNobodyKnowsAreNotStored(t *testing.T) {
	l := newRunLife(t)
	run := l.start("e2e")
	l.settle()
	require.Empty(t, l.notes())
	l.created(run.Jobs[0].ID, nil)
	require.NoError(t, l.github.Runs().CompleteAll(run.ID, "success"))
	l.settle()
	require.Equal(t, []string{fmt.Sprintf("workflow_run acme/shop#run %d done attempt 1 finished: success", run.ID)}, l.notes(), "nothing ends with the job")
}

func TestARunIsFollowedWhenItsRepositoryIsRenamed(t *testing.T) {
	l := newRunLife(t)
	run := l.start("e2e")
	row := l.created(run.Jobs[0].ID, nil)
	l.settle()
	l.github.DropNext(1000)
	require.NoError(t, l.github.Rename("store", "ada"))
	require.NoError(t, l.github.In("acme/store").Runs().CompleteAll(run.ID, "success"))
	l.at.pass(time.Minute)
	l.lookAtRuns()
	require.Equal(t, "0s its workflow run finished", l.ends(row.ID))
	require.Equal(t, "acme/store", l.row(row.ID).Run.Repo)
}

// Another repository may get the old name before the next look, and would be asked about the run.
func TestTheEventOfARenamedRepositoryTakesItsRunsAlong(t *testing.T) {
	l := newRunLife(t)
	run := l.start("e2e")
	row := l.created(run.Jobs[0].ID, nil)
	l.settle()
	require.NoError(t, l.github.Rename("store", "ada"))
	l.settle()
	require.Equal(t, "acme/store", l.known(run).Repo)
	require.Contains(t, l.known(run).URL, "/acme/store/actions/runs/")
	require.Empty(t, l.ends(row.ID))
	elsewhere := stored.Ref{Platform: lifecycle.GitHub, Issuer: "https://github.acme.example/_services/token", Scope: fmt.Sprint(github.RepoID), Key: "7", Attempt: 1, Repo: "acme/docs"}
	_, err := l.store.Runs.Note(t.Context(), elsewhere)
	require.NoError(t, err)
	require.NoError(t, l.store.Runs.Renamed(t.Context(), elsewhere.Scope, "acme/store", "acme/market"))
	require.Equal(t, "acme/market", l.known(run).Repo)
	others, err := l.store.Runs.Named(t.Context(), lifecycle.GitHub, elsewhere.Scope, "7")
	require.NoError(t, err)
	require.Equal(t, "acme/docs", others[0].Repo, "another GitHub has a repository with this id")
}

func TestATurnEndsWithItsJob(t *testing.T) {
	l := newRunLife(t)
	one, two := l.start("e2e", "rest"), l.start("e2e")
	shared := l.created(one.Jobs[0].ID, &app.RunRequest{Lifetime: lifecycle.LifetimeTTL})
	for _, job := range []int64{one.Jobs[0].ID, two.Jobs[0].ID} {
		l.at.pass(time.Second)
		_, _, err := l.core.AskUse(t.Context(), l.as(job), shared.ID, policy.PipelineRun{}, app.Origin{})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"granted", "waiting"}, l.turns(shared.ID))
	require.NoError(t, l.github.Runs().Complete(one.Jobs[0].ID, "failure"))
	l.settle()
	require.Equal(t, []string{"granted", "released: its job finished"}, l.turns(shared.ID))
	l.at.pass(7 * time.Hour)
	l.lookAtRuns()
	require.Equal(t, "released: its turn lasted longer than limits.use allows", l.turns(shared.ID)[0])
}

// turns are the turns on a cluster, as they are listed.
func (l *runLife) turns(cluster string) (out []string) {
	l.Helper()
	uses, err := l.store.Runs.Uses(l.Context(), cluster)
	require.NoError(l, err)
	for _, u := range uses {
		text := string(u.State())
		if u.Why != "" {
			text += ": " + u.Why
		}
		out = append(out, text)
	}
	return out
}

// forge sends a signed event that GitHub did not send: it is late, or somebody has the secret.
func (l *runLife) forge(event, action string, run *github.Run, attempt int, conclusion string) {
	l.Helper()
	run = l.run(run.ID)
	run.Attempt, run.Status, run.Conclusion = attempt, action, conclusion
	run.Past = make([]hubruns.Past, attempt)
	job := *run.Jobs[len(run.Jobs)-1]
	job.Attempt, job.Status, job.Conclusion = attempt, action, conclusion
	body, err := github.Payload(github.Event{Name: event, Action: action, Sender: "maya", Run: *run, Job: job})
	require.NoError(l, err)
	r, err := http.NewRequestWithContext(l.Context(), http.MethodPost, l.address+"/webhooks/github", bytes.NewReader(body))
	require.NoError(l, err)
	l.forged++
	for name, value := range signed(event, fmt.Sprintf("forged-%d", l.forged), body) {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(l, err)
	require.NoError(l, answer.Body.Close())
	require.Equal(l, http.StatusAccepted, answer.StatusCode)
}
