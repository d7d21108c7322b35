package hooks

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store"
)

// arrive stores a labeled event of a pull request without working it, and returns its job.
func (i *inboxFixture) arrive(delivery string, number int) *river.Job[queue.InboxArgs] {
	i.Helper()
	pr := pull(0, label)
	pr.Number = number
	body := payload(i, "pull_request", "labeled", pr)
	status, _ := i.post("/webhooks/github", body, signed("pull_request", delivery, body))
	require.Equal(i, http.StatusAccepted, status)
	id := i.query(`SELECT id::text FROM deliveries WHERE delivery_id = '` + delivery + `'`)
	row, err := strconv.ParseInt(id[0], 10, 64)
	require.NoError(i, err)
	return &river.Job[queue.InboxArgs]{Args: queue.InboxArgs{Row: row}}
}

// untilDone works a job as River does: one that sleeps is run again. Only what another worker holds makes it sleep here.
func (i *inboxFixture) untilDone(ctx context.Context, job *river.Job[queue.InboxArgs]) error {
	for {
		var snooze *river.JobSnoozeError
		if err := i.worker.Work(ctx, job); !errors.As(err, &snooze) || ctx.Err() != nil {
			return err
		}
	}
}

func (i *inboxFixture) done() []string {
	return i.query(`SELECT delivery_id FROM deliveries WHERE state = 'done' ORDER BY finished_at`)
}

func TestDeliveriesOfOnePullRequestAreWorkedInTheOrderTheyArrived(t *testing.T) {
	i := newInbox(t)
	first, other, second, third := i.arrive("d1", 41), i.arrive("d2", 42), i.arrive("d3", 41), i.arrive("d4", 41)
	require.NoError(t, i.worker.Work(t.Context(), second))
	require.Equal(t, []string{"d1", "d3", "d4"}, i.done(), "the whole line of one pull request in order; another one waits")
	require.NoError(t, i.worker.Work(t.Context(), first), "its own job finds it done")
	require.NoError(t, i.worker.Work(t.Context(), third), "so does this one's")
	require.NoError(t, i.worker.Work(t.Context(), other))
	require.Equal(t, []string{"d1", "d3", "d4", "d2"}, i.done())
}

func TestManyWorkersKeepTheOrderOfOnePullRequest(t *testing.T) {
	i := newInbox(t)
	var jobs []*river.Job[queue.InboxArgs]
	var arrived []string
	for n := range 8 {
		id := "d" + strconv.Itoa(n)
		jobs, arrived = append(jobs, i.arrive(id, 41)), append(arrived, id)
	}
	group, ctx := errgroup.WithContext(t.Context())
	for n := range jobs {
		group.Go(func() error { return i.untilDone(ctx, jobs[len(jobs)-1-n]) })
	}
	require.NoError(t, group.Wait())
	require.Equal(t, arrived, i.done())
}

func TestNoWorkerWaitsInPlaceForAnother(t *testing.T) {
	i := newInbox(t)
	job := i.arrive("d1", 41)
	ran, err := i.store.Alone(t.Context(), "inbox acme/shop#41 of 5001", func(ctx context.Context) error {
		var snooze *river.JobSnoozeError
		require.ErrorAs(t, i.worker.Work(ctx, job), &snooze)
		require.Empty(t, i.done())
		return nil
	})
	require.NoError(t, err)
	require.True(t, ran)
	require.NoError(t, i.worker.Work(t.Context(), job))
	require.Equal(t, []string{"d1"}, i.done())
}

func TestACloseWaitsForNothingThatCannotBeWorkedYet(t *testing.T) {
	i := newInbox(t)
	require.NoError(t, i.receive("pull_request", "d0", payload(t, "pull_request", "labeled", pull(0, label))))
	i.github.say(errors.New("GitHub is down"))
	body := payload(t, "issue_comment", "created", pull(0, label), func(e *github.Event) {
		e.Comment = github.Comment{ID: 77, Author: "will", Body: "/ocp extend 1h"}
	})
	i.post("/webhooks/github", body, signed("issue_comment", "d1", body))
	closed := pull(time.Minute, label)
	closed.Open = false
	body = payload(t, "pull_request", "closed", closed)
	i.post("/webhooks/github", body, signed("pull_request", "d2", body))
	last := &river.Job[queue.InboxArgs]{Args: queue.InboxArgs{Row: 3}}
	require.NoError(t, i.worker.Work(t.Context(), last))
	require.Contains(t, i.notes()[1], "GitHub is down", "the comment is not forgotten")
	require.Equal(t, []string{"d0", "d2"}, i.done())
	rows, _, err := i.store.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.False(t, rows[0].Ends.PRClosed.IsZero())
	i.github.say(nil)
	require.NoError(t, i.worker.Work(t.Context(), last))
	require.NoError(t, i.process())
	require.Equal(t, []string{"d0", "d2", "d1"}, i.done())
}

// happen stores an event without working it, and returns its job.
func (i *inboxFixture) happen(delivery string, e github.Event) *river.Job[queue.InboxArgs] {
	i.Helper()
	body, err := github.Payload(e)
	require.NoError(i, err)
	status, answer := i.post("/webhooks/github", body, signed(e.Name, delivery, body))
	require.Equal(i, http.StatusAccepted, status)
	require.Equal(i, "accepted", answer["state"])
	id := i.query(`SELECT id::text FROM deliveries WHERE delivery_id = '` + delivery + `'`)
	row, err := strconv.ParseInt(id[0], 10, 64)
	require.NoError(i, err)
	return &river.Job[queue.InboxArgs]{Args: queue.InboxArgs{Row: row}}
}

var storefront = github.RepoRef{ID: github.RepoID, Name: "acme/storefront"}

func TestWhatBefallsARepositoryIsWorkedBetweenWhatCameBeforeAndAfterIt(t *testing.T) {
	i := newInbox(t)
	before := []*river.Job[queue.InboxArgs]{i.arrive("d1", 41), i.arrive("d2", 42)}
	i.github.repos = map[string]app.RepositoryState{"acme/shop": {Installation: 5001, ID: github.RepoID, Name: "acme/storefront"}}
	renamed := i.happen("d3", github.Event{Name: "repository", Action: "renamed", Sender: "ada", Repo: storefront, OldName: "shop"})
	after := i.happen("d4", github.Event{Name: "pull_request", Action: "labeled", Sender: "will", PR: pull(time.Minute, label), Label: label, Repo: storefront})
	require.NoError(t, i.worker.Work(t.Context(), before[1]))
	require.Equal(t, []string{"d2"}, i.done(), "other pull requests do not wait for each other")
	require.NoError(t, i.worker.Work(t.Context(), after))
	require.Equal(t, []string{"d2", "d1", "d3", "d4"}, i.done())
	require.NoError(t, i.worker.Work(t.Context(), renamed))
	rows, _, err := i.store.List(t.Context(), store.Filter{Repo: "acme/storefront"})
	require.NoError(t, err)
	require.Len(t, rows, 2, "both followed, and the label asked for no third")
}

func TestManyWorkersKeepTheOrderOfAWholeRepository(t *testing.T) {
	i := newInbox(t)
	var jobs []*river.Job[queue.InboxArgs]
	for n := range 4 {
		jobs = append(jobs, i.arrive("d"+strconv.Itoa(2*n), 41), i.happen("d"+strconv.Itoa(2*n+1), github.Event{
			Name: "repository", Action: []string{"archived", "unarchived"}[n%2], Sender: "ada",
		}))
	}
	group, ctx := errgroup.WithContext(t.Context())
	for n := range jobs {
		group.Go(func() error { return i.untilDone(ctx, jobs[len(jobs)-1-n]) })
	}
	require.NoError(t, group.Wait())
	require.Equal(t, []string{"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"}, i.done())
}

func TestADeletedRepositoryWaitsForNothingThatCannotBeWorked(t *testing.T) {
	i := newInbox(t)
	require.NoError(t, i.worker.Work(t.Context(), i.arrive("d0", 41)))
	i.github.say(errors.New("no such repository"))
	i.github.repos = map[string]app.RepositoryState{"acme/shop": {}}
	i.arrive("d1", 42)
	deleted := i.happen("d2", github.Event{Name: "repository", Action: "deleted", Sender: "ada"})
	require.NoError(t, i.worker.Work(t.Context(), deleted))
	require.Contains(t, i.notes()[1], "no such repository", "the label is not forgotten")
	require.Equal(t, []string{"d0", "d2"}, i.done())
	rows, _, err := i.store.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Equal(t, "acme/shop was deleted", rows[0].Ends.PRWhy.String())
}

func TestWhatIsToldOfARepositoryIsWorkedOnceGitHubAnswers(t *testing.T) {
	i := newInbox(t)
	require.NoError(t, i.worker.Work(t.Context(), i.arrive("d0", 41)))
	i.github.say(errors.New("connection reset"))
	deleted := i.happen("d1", github.Event{Name: "repository", Action: "deleted", Sender: "ada"})
	require.ErrorContains(t, i.worker.Work(t.Context(), deleted), "connection reset")
	require.Equal(t, []string{"d0"}, i.done(), "it stays where it is")
	i.github.say(nil)
	require.NoError(t, i.worker.Work(t.Context(), deleted))
	require.Equal(t, []string{"d0", "d1"}, i.done())
	require.Contains(t, i.notes()[1], "GitHub does not say that acme/shop was deleted")
	rows, _, err := i.store.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Zero(t, rows[0].Ends.PRClosed)
}

// hangs is a service whose pull requests take all the time they are given, but for those that are closed.
type hangs struct{ pullRequests }

func (h hangs) SyncPullRequest(ctx context.Context, e pulls.PullRequestEvent) (string, error) {
	if e.Action == actionClosed {
		return h.pullRequests.SyncPullRequest(ctx, e)
	}
	<-ctx.Done()
	return "", ctx.Err()
}

func TestADeletedRepositoryIsLeftTimeByWhatCannotBeWorked(t *testing.T) {
	i := newInbox(t)
	require.NoError(t, i.worker.Work(t.Context(), i.arrive("d0", 41)))
	i.worker.pulls = hangs{i.worker.pulls}
	i.arrive("d1", 42)
	i.arrive("d2", 43)
	deleted := i.happen("d3", github.Event{Name: "repository", Action: "deleted", Sender: "ada"})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	require.NoError(t, i.worker.Work(ctx, deleted))
	require.Equal(t, []string{"d0", "d3"}, i.done())
}

func TestACloseIsLeftTimeByWhatCannotBeWorked(t *testing.T) {
	i := newInbox(t)
	i.worker.pulls = hangs{i.worker.pulls}
	i.arrive("d1", 41)
	closed := pull(time.Minute, label)
	closed.Open = false
	last := i.happen("d2", github.Event{Name: "pull_request", Action: "closed", Sender: "will", PR: closed})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	require.NoError(t, i.worker.Work(ctx, last))
	require.Equal(t, []string{"d2"}, i.done())
}
