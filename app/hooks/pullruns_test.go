package hooks

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/policy"
)

// startFor starts a run of a pull request.
func (l *runLife) startFor(number int) *github.Run {
	l.Helper()
	run, err := l.github.Runs().Start(github.NewRun{Pull: number, Jobs: []github.NewJob{{Key: "e2e"}}})
	require.NoError(l, err)
	require.NoError(l, l.github.Runs().Begin(run.Jobs[0].ID))
	return l.run(run.ID)
}

// askAboutPulls does what the queue has to do about pull requests of which nothing is known, and returns how much that was.
func (l *runLife) askAboutPulls() int {
	l.Helper()
	jobs := l.query(`WITH done AS (DELETE FROM river_job WHERE kind = 'pull' RETURNING args) SELECT args::text FROM done`)
	for _, args := range jobs {
		var job river.Job[queue.PullArgs]
		require.NoError(l, json.Unmarshal([]byte(args), &job.Args))
		require.NoError(l, NewPullWorker(l.worker.pulls.(*pulls.Service)).Work(l.Context(), &job))
	}
	return len(jobs)
}

func TestARunIsFasterThanTheWebhookOfItsPullRequestOrThisHasNoLabel(t *testing.T) {
	l := newRunLife(t)
	number := l.open()
	run := l.startFor(number)
	reuse := &app.RunRequest{Reuse: policy.ReusePullRequest}
	for range 2 { // before the webhook, and after it: a pull request without a label of ours is not remembered
		_, err := l.create(run.Jobs[0].ID, reuse)
		require.Equal(t, app.Busy, app.KindOf(err))
		require.ErrorContains(t, err, "Nothing is known of acme/shop#50 yet, and GitHub is being asked. Ask again in a few seconds.")
		l.settle()
	}
	require.Equal(t, 1, l.askAboutPulls())
	row := l.created(run.Jobs[0].ID, reuse)
	require.Equal(t, number, row.PR.Number)

	require.NoError(t, l.github.Push(number, "will"))
	l.settle()
	next := l.startFor(number)
	again, err := l.create(next.Jobs[0].ID, reuse)
	require.NoError(t, err)
	require.Equal(t, []any{true, row.ID}, []any{again.Reused, again.Row.ID})
	require.NoError(t, l.github.Runs().CompleteAll(run.ID, "success"))
	l.settle()
	require.Equal(t, row.Ends, l.row(row.ID).Ends, "neither a push nor the end of a run ends the pull request's cluster")

	require.NoError(t, l.github.Close(number, "will"))
	l.settle()
	require.False(t, l.row(row.ID).Ends.PRClosed.IsZero())
}

func TestARunOfAPullRequestThatTheAppCannotSeeIsTold(t *testing.T) {
	l := newRunLife(t)
	run := l.startFor(l.open())
	require.NoError(t, l.github.Uninstall("ada"))
	reuse := &app.RunRequest{Reuse: policy.ReusePullRequest}
	refused := func(kind app.Kind, words string) {
		t.Helper()
		_, err := l.create(run.Jobs[0].ID, reuse)
		require.Equal(t, kind, app.KindOf(err))
		require.ErrorContains(t, err, words)
	}
	refused(app.Busy, "GitHub is being asked")
	require.Equal(t, 1, l.askAboutPulls())
	refused(app.Conflict, "GitHub does not show acme/shop#50 to ocpctl's App. An owner of the repository has to install the App there; then ask again.")
	require.Zero(t, l.askAboutPulls())
	_, err := l.github.Install("ada")
	require.NoError(t, err)
	l.at.pass(time.Minute)
	refused(app.Busy, "GitHub is being asked")
	require.Equal(t, 1, l.askAboutPulls())
	l.created(run.Jobs[0].ID, reuse)

	elsewhere := l.as(run.Jobs[0].ID)
	elsewhere.Proof.Issuer = "https://git.example.com/_services/token"
	_, err = l.core.Create(t.Context(), elsewhere, app.CreateRequest{Profile: first, CostCenter: "sandbox", Environment: "test", Source: policy.SourceAPI, Run: reuse})
	require.Equal(t, app.Conflict, app.KindOf(err))
	require.ErrorContains(t, err, "GitHub cannot be asked about acme/shop#50: the run is on https://git.example.com and the GitHub App on "+wire.Site(l.github.URL()))
	require.Zero(t, l.askAboutPulls())
}
