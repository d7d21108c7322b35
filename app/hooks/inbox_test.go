package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	gh "github.com/google/go-github/v66/github"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/app/runs"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

const label = "ocp/aws-minimal-test"

// writers lets everybody write, or answers with an error while there is one.
type writers struct {
	err  atomic.Pointer[error]
	seen *store.Store

	repos map[string]app.RepositoryState // by a name they have or had
}

func (w *writers) say(err error) { w.err.Store(&err) }

func (w *writers) failing() error {
	if err := w.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (w *writers) Permission(context.Context, int64, string, app.GitHubAccount) (string, error) {
	return "write", w.failing()
}

func (w *writers) AccountID(context.Context, int64, string) (int64, error) { return 0, w.failing() }

func (w *writers) Login(context.Context, int64, int64) (string, error) { return "", w.failing() }

// PullRequest answers with the newest state that any webhook told.
func (w *writers) PullRequest(ctx context.Context, installation int64, _ string, number int) (newest pullrequests.PullRequest, err error) {
	if err := w.failing(); err != nil {
		return pullrequests.PullRequest{}, err
	}
	rows, err := w.seen.Pool().Query(ctx, `SELECT body FROM deliveries WHERE event = 'pull_request' ORDER BY id`)
	if err != nil {
		return pullrequests.PullRequest{}, err
	}
	bodies, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return pullrequests.PullRequest{}, err
	}
	for _, body := range bodies {
		var e gh.PullRequestEvent
		if err := json.Unmarshal(body, &e); err != nil {
			return pullrequests.PullRequest{}, err
		}
		got := toPullRequest(installation, e.GetRepo().GetFullName(), wire.Of(e.GetPullRequest()))
		if got.Number == number && !got.UpdatedAt.Before(newest.UpdatedAt) {
			newest = got
		}
	}
	if newest.Number == 0 {
		return pullrequests.PullRequest{}, app.ErrNoPullRequest
	}
	return newest, nil
}

func (w *writers) RemovesRepositoryFile(context.Context, int64, string, int) (bool, error) {
	return false, nil
}

func (w *writers) RepositoryFile(context.Context, int64, string, string) ([]byte, bool, error) {
	return nil, false, nil
}

func (w *writers) Teams(context.Context, int64, string, []string) ([]string, error) { return nil, nil }

func (w *writers) WorkflowRun(context.Context, int64, string, int64) (app.WorkflowRun, error) {
	return app.WorkflowRun{}, app.ErrRefused
}

func (w *writers) OwnLogin(context.Context) (string, error) { return "ocpctl[bot]", nil }

func (w *writers) InstallationOf(context.Context, string) (int64, error) { return 5001, w.failing() }

// Repository says that nothing happened to a repository, unless the test says something else.
func (w *writers) Repository(_ context.Context, _ int64, repo string) (app.RepositoryState, error) {
	if is, ok := w.repos[repo]; ok {
		return is, nil
	}
	return app.RepositoryState{Installation: 5001, ID: github.RepoID, Name: repo}, w.failing()
}

// inbox is the entry point with the worker behind it.
type inboxFixture struct {
	*front
	worker *InboxWorker
	github *writers
}

func newInbox(t *testing.T) *inboxFixture {
	f := newFront(t)
	terms, err := catalogue.Embedded()
	require.NoError(t, err)
	w := &writers{seen: f.store}
	cfg := app.Config{
		Store: f.store, Catalogue: func() catalogue.Catalogue { return terms }, GitHub: w, Policy: policy.Settings{Grace: time.Minute, Installation: "test"},
		Repositories: []app.Repository{{Match: "acme/*", Ownership: policy.Ownership{Team: "platform", Owner: "maya", CostCenter: "sandbox", Environment: "test"}}},
		Installs:     app.Installs{PullSecretRef: "file:/run/pull-secret"},
	}
	core := app.New(cfg)
	links := credentials.New(core, cfg)
	ofRuns := runs.New(runs.Config{Store: f.store})
	return &inboxFixture{f, NewInboxWorker(f.store, pulls.New(core, links, cfg), ofRuns, slackapp.New(core, links, admin.New(core, cfg), nil, cfg), github.AppID, nil), w}
}

// receive posts a body as GitHub does and processes what is not done yet, as River would.
func (i *inboxFixture) receive(event, delivery string, body []byte) error {
	i.Helper()
	status, _ := i.post("/webhooks/github", body, signed(event, delivery, body))
	require.Equal(i, http.StatusAccepted, status)
	return i.process()
}

func (i *inboxFixture) process() error {
	var errs []error
	for _, id := range i.query(`SELECT id::text FROM deliveries ORDER BY id`) {
		row, err := strconv.ParseInt(id, 10, 64)
		require.NoError(i, err)
		errs = append(errs, i.worker.Process(i.Context(), row))
	}
	return errors.Join(errs...)
}

func (i *inboxFixture) notes() []string {
	return i.query(`SELECT coalesce(note, '') FROM deliveries ORDER BY id`)
}

func payload(t testing.TB, name, action string, pr github.PullRequest, change ...func(*github.Event)) []byte {
	e := github.Event{Name: name, Action: action, Sender: "will", PR: pr, Label: label}
	for _, one := range change {
		one(&e)
	}
	body, err := github.Payload(e)
	require.NoError(t, err)
	return body
}

func pull(at time.Duration, labels ...string) github.PullRequest {
	return github.PullRequest{
		Number: 41, Title: "Add a cart", Author: "will", HeadOwner: github.Org, Open: true, Labels: labels, HeadSHA: "6dcb09b5b57875f334f61aebed695e2e4193db5e",
		UpdatedAt: time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC).Add(at),
	}
}

func TestARealPayloadBecomesACluster(t *testing.T) {
	i := newInbox(t)
	require.NoError(t, i.receive("pull_request", "d1", payload(t, "pull_request", "labeled", pull(0, label))))
	rows, _, err := i.store.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, "github:id/2002", rows[0].RequestedBy)
	require.Equal(t, &clusters.PRRef{Installation: github.Installation, Repo: "acme/shop", Number: 41, Head: pull(0).HeadSHA}, rows[0].PR)
	require.Contains(t, i.notes()[0], "accepted aws-minimal-test")

	require.NoError(t, i.receive("pull_request", "d1", payload(t, "pull_request", "labeled", pull(0, label))), "the same delivery")
	require.NoError(t, i.receive("pull_request", "d2", payload(t, "pull_request", "labeled", pull(0, label))), "the same event, delivered anew")
	closed := pull(time.Minute, label)
	closed.Open = false
	require.NoError(t, i.receive("pull_request", "d3", payload(t, "pull_request", "closed", closed)))
	rows, _, err = i.store.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.False(t, rows[0].Ends.PRClosed.IsZero())
	require.Equal(t, "nothing to change", i.notes()[1])
	require.Contains(t, i.notes()[2], "ends")
}

func TestARealCommentIsObeyed(t *testing.T) {
	i := newInbox(t)
	require.NoError(t, i.receive("pull_request", "d1", payload(t, "pull_request", "opened", pull(0))))
	say := func(body, author string) func(*github.Event) {
		return func(e *github.Event) {
			e.Comment = github.Comment{ID: 77, Author: author, Body: body}
			e.Sender = author
		}
	}
	require.NoError(t, i.receive("issue_comment", "d2", payload(t, "issue_comment", "created", pull(0), say("/ocp create", "will"))))
	require.Contains(t, i.notes()[1], "accepted")
	require.NoError(t, i.receive("issue_comment", "d3", payload(t, "issue_comment", "edited", pull(0), say("/ocp destroy", "will"))))
	require.NoError(t, i.receive("issue_comment", "d4", payload(t, "issue_comment", "deleted", pull(0), say("/ocp destroy", "will"))))
	require.NoError(t, i.receive("issue_comment", "d5", payload(t, "issue_comment", "created", pull(0), say("/ocp destroy", github.Bot))))
	require.Equal(t, []string{"d1", "d2"}, i.stored(), "neither what was edited or deleted, nor what bots say")
}

func TestWhatCanNeverBeProcessedIsKeptWithItsReason(t *testing.T) {
	i := newInbox(t)
	for n, body := range []string{`{"action":["labeled"]}`, `{"action":"labeled"}`, `{"action":"labeled","pull_request":null}`} {
		// As an older release stored it, which asked less of a body.
		_, err := i.store.Inbox.SaveDelivery(t.Context(), inbox.Delivery{Source: SourceGitHub, ID: string(rune('a' + n)), Event: "pull_request", Body: []byte(body)})
		require.NoError(t, err)
		require.NoError(t, i.process(), "it is not tried again")
	}
	require.Len(t, i.notes(), 3)
	for _, note := range i.notes() {
		require.Contains(t, note, "cannot be processed")
	}
}

func TestAPanicIsTriedAgainAndNotForEver(t *testing.T) {
	i := newInbox(t)
	i.worker.pulls = nil
	require.ErrorContains(t, i.receive("pull_request", "d1", payload(t, "pull_request", "labeled", pull(0, label))), "panic")
	_, err := i.store.Pool().Exec(t.Context(), `UPDATE deliveries SET failing_since = failing_since - interval '25 hours'`)
	require.NoError(t, err)
	require.NoError(t, i.process())
	require.Contains(t, i.notes()[0], "panic")
}

func TestACommentThatIsGivenUpIsToldSo(t *testing.T) {
	i := newInbox(t)
	i.github.say(errors.New("GitHub is down"))
	comment := payload(t, "issue_comment", "created", pull(0, label), func(e *github.Event) {
		e.Comment = github.Comment{ID: 7, Author: "will", Body: "/ocp create"}
	})
	require.ErrorContains(t, i.receive("issue_comment", "d1", comment), "GitHub is down")
	require.Empty(t, i.query(`SELECT body FROM replies`))
	_, err := i.store.Pool().Exec(t.Context(), `UPDATE deliveries SET failing_since = failing_since - interval '25 hours'`)
	require.NoError(t, err)
	require.NoError(t, i.process())
	require.Equal(t, []string{"failed"}, i.query(`SELECT state FROM deliveries`))
	require.Contains(t, i.query(`SELECT body FROM replies`)[0], "@will, ocpctl gave up on this")
	require.Equal(t, []string{"confused", "eyes"}, i.query(`SELECT content FROM effects ORDER BY content`))
}

func TestACommentOnAnIssueIsNoneOfOurBusiness(t *testing.T) {
	i := newInbox(t)
	var body map[string]any
	require.NoError(t, json.Unmarshal(payload(t, "issue_comment", "created", pull(0), func(e *github.Event) {
		e.Comment = github.Comment{ID: 7, Author: "will", Body: "/ocp create"}
	}), &body))
	delete(body["issue"].(map[string]any), "pull_request")
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	require.NoError(t, i.receive("issue_comment", "d1", raw))
	require.Contains(t, i.notes()[0], "on an issue")
}

func TestANumberThatWasSeenAsAPullRequestIsNoIssue(t *testing.T) {
	i := newInbox(t)
	require.NoError(t, i.receive("pull_request", "d1", payload(t, "pull_request", "labeled", pull(0, label))))
	var body map[string]any
	require.NoError(t, json.Unmarshal(payload(t, "issue_comment", "created", pull(0, label), func(e *github.Event) {
		e.Comment = github.Comment{ID: 7, Author: "will", Body: "/ocp help"}
	}), &body))
	delete(body["issue"].(map[string]any), "pull_request")
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	require.NoError(t, i.receive("issue_comment", "d2", raw))
	require.Equal(t, "help", i.notes()[1])
}

func TestWhatMayPassByItselfIsTriedAgain(t *testing.T) {
	i := newInbox(t)
	i.github.say(errors.New("connection reset"))
	require.ErrorContains(t, i.receive("pull_request", "d1", payload(t, "pull_request", "labeled", pull(0, label))), "connection reset")
	require.Contains(t, i.notes()[0], "try 1 failed and is repeated: ")
	require.Contains(t, i.notes()[0], "connection reset")
	i.github.say(nil)
	require.NoError(t, i.process())
	require.Contains(t, i.notes()[0], "accepted")
}

// busyPulls has no time for anything now.
type busyPulls struct{ pullRequests }

func (busyPulls) SyncPullRequest(context.Context, pulls.PullRequestEvent) (string, error) {
	return "", app.Fail(app.Busy, "Its cluster ended just now. Ask again.")
}

func TestAServiceThatIsBusyIsAskedAgain(t *testing.T) {
	i := newInbox(t)
	i.worker.pulls = busyPulls{}
	require.ErrorContains(t, i.receive("pull_request", "d1", payload(t, "pull_request", "labeled", pull(0, label))), "Ask again.")
	require.Equal(t, []string{"received"}, i.query(`SELECT state FROM deliveries`))
}

func TestARateLimitIsWaitedForAndIsNoFailure(t *testing.T) {
	i := newInbox(t)
	i.github.say(wire.RateLimited{RetryAfter: 90 * time.Second})
	require.Error(t, i.receive("pull_request", "d1", payload(t, "pull_request", "labeled", pull(0, label))))
	err := i.worker.Work(t.Context(), &river.Job[queue.InboxArgs]{JobRow: &rivertype.JobRow{}, Args: queue.InboxArgs{Row: 1}})
	var snooze *river.JobSnoozeError
	require.ErrorAs(t, err, &snooze)
	require.Equal(t, 90*time.Second, snooze.Duration)
}

func TestARowThatIsGoneIsNothingToDo(t *testing.T) {
	require.NoError(t, newInbox(t).worker.Process(t.Context(), 4711))
}
