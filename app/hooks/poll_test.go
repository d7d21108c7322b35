package hooks

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// labelled is a life with one pull request that has a cluster, whose next webhooks get lost.
func labelled(t *testing.T) (*life, int) {
	l := newLife(t)
	number := l.open()
	l.tick(time.Second)
	l.label(number, "ocp/"+first)
	l.settle()
	l.one(number, first)
	l.tick(time.Second)
	l.github.DropNext(1000)
	return l, number
}

// look has polling look, and the inbox work what it saw.
func (l *life) look() {
	l.Helper()
	require.NoError(l, l.poller.Look(l.Context()))
	l.settle()
}

// later makes it a minute and more ago that anything was found absent.
func (l *life) later() {
	l.Helper()
	_, err := l.store.Pool().Exec(l.Context(), `UPDATE marks SET at = at - interval '61 seconds' WHERE name LIKE 'absent %'`)
	require.NoError(l, err)
}

// sightings are the deliveries of polling.
func (l *life) sightings() []string {
	l.Helper()
	return l.query(`SELECT event || ' ' || topic FROM deliveries WHERE source = 'poll' ORDER BY id`)
}

func TestWhatNobodyToldIsSeenByPolling(t *testing.T) {
	l, number := labelled(t)
	l.look()
	require.Empty(t, l.sightings(), "nothing happened")

	require.NoError(t, l.github.Close(number, "will"))
	l.look()
	l.look()
	require.Equal(t, []string{"pull_request_seen " + pullTopic(github.Repo, number)}, l.sightings(), "the same seen twice is one delivery")
	row := l.one(number, first)
	require.NotZero(t, row.Ends.PRClosed)
	require.Equal(t, "the pull request was closed, seen by polling", row.Ends.PRWhy.String())

	l.tick(time.Second)
	require.NoError(t, l.github.Reopen(number, "will"))
	l.look()
	require.Zero(t, l.one(number, first).Ends.PRClosed)

	l.tick(time.Second)
	l.unlabel(number, "ocp/"+first)
	require.NoError(t, l.github.Push(number, "will"))
	l.look()
	require.NotZero(t, l.one(number, first).Ends.LabelRemoved)
	require.Equal(t, []string{l.at(number).HeadSHA}, l.query(`SELECT head FROM subscribers WHERE kind = 'github_check' AND NOT left_behind`))
	require.Len(t, l.sightings(), 3)
}

func TestAPullRequestThatStoodStillIsWorkedOnceMore(t *testing.T) {
	l, number := labelled(t)
	row := l.one(number, first)
	at := time.Now().Add(time.Hour)
	require.NoError(t, l.store.SetEnd(t.Context(), row.ID, clusters.EndPRClosed, &at, lifecycle.Noted("what told of the reopening was given up"), "test"))
	l.look()
	require.Empty(t, l.sightings(), "it may yet be told")
	for range 2 {
		require.NoError(t, l.poller.pollOnce(t.Context(), time.Now().Add(still+time.Minute)))
		l.settle()
	}
	require.Len(t, l.sightings(), 1)
	require.Zero(t, l.one(number, first).Ends.PRClosed)

	for n := range 2 { // it stood like that before
		later := at.Add(time.Duration(n) * time.Minute)
		require.NoError(t, l.store.SetEnd(t.Context(), row.ID, clusters.EndPRClosed, &later, lifecycle.Noted("the App was there again at once, which nobody told"), "test"))
		for range 2 {
			require.NoError(t, l.poller.pollOnce(t.Context(), time.Now().Add(still+time.Minute)))
			l.settle()
		}
		require.Zero(t, l.one(number, first).Ends.PRClosed)
		require.Len(t, l.sightings(), 2+n)
	}
}

func TestAnArchivedRepositoryIsSeen(t *testing.T) {
	l, number := labelled(t)
	require.NoError(t, l.github.Archive("ada"))
	l.look()
	l.look()
	require.Equal(t, "acme/shop was archived, seen by polling", l.one(number, first).Ends.PRWhy.String())
	require.Len(t, l.sightings(), 1)
}

func TestAPullRequestThatIsGoneIsLookedForTwice(t *testing.T) {
	l, number := labelled(t)
	require.NoError(t, l.github.Delete("ada"))
	l.look()
	l.look()
	require.Zero(t, l.one(number, first).Ends.PRClosed, "twice, and not a minute apart")
	l.later()
	l.look()
	row := l.one(number, first)
	require.NotZero(t, row.Ends.PRClosed)
	require.Contains(t, row.Ends.PRWhy.String(), "the App can no longer access acme/shop#")
	l.look()
	require.Len(t, l.sightings(), 1)
}

func TestAPullRequestThatIsThereAgainGoesOn(t *testing.T) {
	l, number := labelled(t)
	gone := github.APIFault{Status: http.StatusOK, Path: "/graphql"} // an answer without data decides nothing
	l.github.FailNext(1, gone)
	l.look()
	require.Empty(t, l.query(`SELECT name FROM marks WHERE name LIKE 'absent %'`))

	require.NoError(t, l.github.Suspend("ada"))
	l.look()
	l.later()
	l.look()
	row := l.one(number, first)
	require.Equal(t, "the App was suspended on acme/shop", row.Ends.PRWhy.String())
	require.Equal(t, []string{"installation_seen installation 5001"}, l.sightings())
	require.NoError(t, l.github.Unsuspend("ada"))
	l.look()
	require.Zero(t, l.one(number, first).Ends.PRClosed, "nothing of the pull request changed, but that it is there")
	require.Empty(t, l.query(`SELECT name FROM marks WHERE name LIKE 'absent %'`))
}

// A repository went to another owner, where the App is installed too, and nobody told: the installation of before does not see it.
func TestARepositoryThatAnotherInstallationReachesIsNotGone(t *testing.T) {
	l, number := labelled(t)
	there, answers := `{"id":7001}`, http.StatusBadGateway
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/access_tokens"):
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, `{"token":"ghs_x","expires_at":%q}`, time.Now().Add(time.Hour).Format(time.RFC3339))
		case r.URL.Path == "/graphql":
			fmt.Fprint(w, `{"data":{"p0":null},"errors":[{"type":"NOT_FOUND","path":["p0"],"message":"Could not resolve to a Repository"}]}`)
		default:
			w.WriteHeader(answers)
			fmt.Fprint(w, there)
		}
	}))
	t.Cleanup(hub.Close)
	client, err := wire.New(wire.Config{AppID: github.AppID, PrivateKey: l.github.KeyPEM(), BaseURL: hub.URL, Pace: -1, Settling: -1})
	require.NoError(t, err)
	poller := NewPoller(l.store, client, 0, slog.New(slog.DiscardHandler))
	l.worker = l.workerOn(t, client)
	look := func() {
		t.Helper()
		require.NoError(t, poller.Look(t.Context()))
		l.later()
	}
	look()
	look()
	require.Empty(t, l.sightings(), "not known is not gone")
	answers = http.StatusOK
	bound := NewPoller(l.store, client, 0, slog.New(slog.DiscardHandler), 5001)
	require.NoError(t, bound.Look(t.Context()))
	require.Equal(t, []string{"pull_request_seen " + pullTopic(github.Repo, number)}, l.sightings(), "an installation that is not looked after reaches nothing")
	_, err = l.store.Pool().Exec(t.Context(), `DELETE FROM deliveries WHERE source = 'poll'`)
	require.NoError(t, err)
	look()
	require.Equal(t, []string{"installation_seen installation 7001"}, l.sightings())
	l.settle()
	row := l.one(number, first)
	require.EqualValues(t, 7001, row.PR.Installation)
	require.Zero(t, row.Ends.PRClosed)
	there, answers = `{}`, http.StatusNotFound
	look()
	l.settle()
	require.NotZero(t, l.one(number, first).Ends.PRClosed, "and now nobody reaches it")
}

func TestAnInstallationThatIsGoneIsNotAHundredPullRequests(t *testing.T) {
	l, number := labelled(t)
	l.github.DropNext(0)
	other := l.open()
	l.label(other, "ocp/"+first)
	l.settle()
	l.github.DropNext(1000)
	require.NoError(t, l.github.Uninstall("ada"))
	l.look()
	require.Empty(t, l.sightings())
	l.later()
	l.look()
	require.Equal(t, []string{"installation_seen installation 5001"}, l.sightings())
	for _, n := range []int{number, other} {
		require.Equal(t, "the App was removed from acme/shop", l.one(n, first).Ends.PRWhy.String())
	}
	id, err := l.github.Install("ada")
	require.NoError(t, err)
	l.look() // by the old number it does not answer; the App says what the new one is
	l.look()
	for _, n := range []int{number, other} {
		row := l.one(n, first)
		require.Equal(t, id, row.PR.Installation)
		require.Zero(t, row.Ends.PRClosed)
	}
}

func TestARenamedRepositoryIsFollowed(t *testing.T) {
	l, number := labelled(t)
	require.NoError(t, l.github.Rename("storefront", "ada"))
	l.look()
	require.Equal(t, []string{"repository_seen acme/storefront"}, l.sightings())
	rows, _, err := l.store.List(t.Context(), store.Filter{Repo: "acme/storefront", Number: number})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Zero(t, rows[0].Ends.PRClosed)
	l.look()
	require.Len(t, l.sightings(), 1)
}

func TestAClusterWhoseRepositoryLostItsNameEnds(t *testing.T) {
	l, number := labelled(t)
	other := l.at(number)
	require.NoError(t, l.github.Close(number, "will")) // there is more to look at
	stranger := pullrequests.PullRequest{Installation: 5001, Repo: github.Repo, Number: number, Open: true, RepoID: 77, Head: other.HeadSHA, UpdatedAt: l.clock().Add(time.Hour)}
	_, err := l.store.PullRequests.SeePullRequest(t.Context(), stranger, false)
	require.NoError(t, err)
	l.look()
	l.later()
	l.look()
	rows, _, err := l.store.List(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.True(t, pullrequests.Nameless(rows[0].PR.Repo))
	require.Equal(t, "its repository's name now belongs to another repository, seen by polling", rows[0].Ends.PRWhy.String())
}

func TestAnAnswerThatFailedDecidesNothing(t *testing.T) {
	for name, fault := range map[string]github.APIFault{
		"an outage":            {Status: http.StatusBadGateway, Path: "/graphql"},
		"a limit":              {Status: http.StatusForbidden, Path: "/graphql", RetryAfter: "1", Message: "You have exceeded a secondary rate limit"},
		"a forbidden one":      {Status: http.StatusForbidden, Path: "/graphql", Message: "Resource not accessible by integration"},
		"a missing path":       {Status: http.StatusNotFound, Path: "/graphql", Message: "Not Found"},
		"a bad key of the App": {Status: http.StatusUnauthorized, Path: "/", Message: "A JSON web token could not be decoded"},
	} {
		t.Run(name, func(t *testing.T) {
			l, number := labelled(t)
			for range 2 {
				l.github.RevokeTokens()
				l.github.FailNext(10, fault)
				require.NoError(t, l.poller.Look(t.Context()))
				l.later()
			}
			require.Empty(t, l.sightings())
			require.Empty(t, l.query(`SELECT name FROM marks WHERE name LIKE 'absent %'`))
			require.Zero(t, l.one(number, first).Ends.PRClosed)
		})
	}
}

func TestASightingIsOneDeliveryForWhatWasSeen(t *testing.T) {
	pr := pullrequests.PullRequest{Installation: 5001, Repo: "acme/shop", Number: 41, Open: true, Labels: []string{"ocp/x"}, UpdatedAt: time.Unix(1_700_000_000, 0).UTC()}
	seen := sighting{Installation: 5001, Repository: pr.Repo, Number: pr.Number, State: &pr}
	one, err := seen.toDelivery()
	require.NoError(t, err)
	again, err := seen.toDelivery()
	require.NoError(t, err)
	require.Equal(t, one, again)
	require.True(t, strings.HasPrefix(one.ID, "acme/shop#41:"))
	require.True(t, isValidName(one.ID))
	ids := map[string]bool{one.ID: true}
	for _, change := range []func(*sighting, *pullrequests.PullRequest){
		func(_ *sighting, pr *pullrequests.PullRequest) { pr.Open = false },
		func(_ *sighting, pr *pullrequests.PullRequest) { pr.UpdatedAt = pr.UpdatedAt.Add(time.Second) },
		func(_ *sighting, pr *pullrequests.PullRequest) { pr.Labels = nil },
		func(s *sighting, _ *pullrequests.PullRequest) { s.Still = true },
		func(s *sighting, _ *pullrequests.PullRequest) { s.Still, s.Ends = true, "2026-11-20T12:00:00Z" },
		func(s *sighting, _ *pullrequests.PullRequest) { s.State, s.Since = nil, "2026-11-20T12:00:00Z" },
	} {
		state, other := pr, seen
		other.State = &state
		change(&other, &state)
		d, err := other.toDelivery()
		require.NoError(t, err)
		require.False(t, ids[d.ID])
		ids[d.ID] = true
	}
}

func TestOnlyWhatMattersIsNews(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	was := pullrequests.PullRequest{Open: true, RepoID: 900, Head: "a", Base: "main", Labels: []string{"bug", "OCP/x"}, Author: "will", UpdatedAt: at}
	same := was
	same.Labels, same.Author, same.UpdatedAt = []string{"ocp/x", "docs"}, "", at.Add(time.Hour)
	require.False(t, isNews(was, same))
	for name, change := range map[string]func(*pullrequests.PullRequest){
		"closed": func(pr *pullrequests.PullRequest) { pr.Open = false }, "merged": func(pr *pullrequests.PullRequest) { pr.Merged = true },
		"a draft": func(pr *pullrequests.PullRequest) { pr.Draft = true }, "pushed": func(pr *pullrequests.PullRequest) { pr.Head = "b" },
		"another base": func(pr *pullrequests.PullRequest) { pr.Base = "next" }, "labelled": func(pr *pullrequests.PullRequest) { pr.Labels = []string{"ocp/x", "ocp-ttl/8"} },
		"unlabelled": func(pr *pullrequests.PullRequest) { pr.Labels = nil }, "another repository's of that name": func(pr *pullrequests.PullRequest) { pr.RepoID = 902 },
	} {
		is := was
		change(&is)
		require.True(t, isNews(was, is), name)
		is.UpdatedAt = at.Add(-time.Second)
		require.False(t, isNews(was, is), "a machine of GitHub's that lags: %s", name)
	}
}
