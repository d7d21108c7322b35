package pulls_test

import (
	"cmp"
	"context"
	"fmt"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/pulls"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

func (h *fixture) moved(e pulls.RepositoryEvent) string {
	h.Helper()
	e.Installation, e.Actor = cmp.Or(e.Installation, 5001), "maya"
	note, err := h.Service.RepositoryMoved(h.Context(), e)
	require.NoError(h, err)
	return note
}

// reached is a repository that the App reaches; its number is that of the test's pull requests.
func reached(name string) app.RepositoryState {
	return app.RepositoryState{Installation: 5001, ID: 900, Name: name}
}

// numbered has the label set on a pull request of repository 900.
func (h *fixture) numbered() clusters.Row {
	h.Helper()
	e := h.Event("labeled", "will", true, label)
	e.Label, e.PR.RepoID = label, 900
	h.Sync(e)
	return h.Only()
}

// What is told of a repository only says what to ask: by GitHub's answer alone something follows.
func TestWhatHappensToARepository(t *testing.T) {
	const to = "acme/store"
	unmoved := map[string]app.RepositoryState{repo: reached(repo)}
	gone := app.RepositoryState{}
	is := func(change func(*app.RepositoryState)) app.RepositoryState {
		state := reached(repo)
		change(&state)
		return state
	}
	for name, c := range map[string]struct {
		event    pulls.RepositoryEvent
		answers  map[string]app.RepositoryState // how GitHub says it stands, once it happened
		repo     string
		ends     string // why; empty: it goes on
		followed int64  // to another installation
	}{
		"renamed": {event: pulls.RepositoryEvent{Action: "renamed", From: repo, To: to},
			answers: map[string]app.RepositoryState{repo: reached(to), to: reached(to)}, repo: to},
		"renamed, and the name taken": {event: pulls.RepositoryEvent{Action: "renamed", From: repo, To: to},
			answers: map[string]app.RepositoryState{repo: is(func(s *app.RepositoryState) { s.ID = 902 }), to: reached(to)}, repo: to},
		"renamed twice, heard late": {event: pulls.RepositoryEvent{Action: "renamed", From: repo, To: "acme/between"},
			answers: map[string]app.RepositoryState{repo: reached(to), "acme/between": reached(to)}, repo: to},
		"transferred to ours": {event: pulls.RepositoryEvent{Action: "transferred", From: repo, To: "umbrella/shop"},
			answers: map[string]app.RepositoryState{repo: {Installation: 6001, ID: 900, Name: "umbrella/shop"}}, repo: "umbrella/shop", followed: 6001},
		"transferred to a nobody": {event: pulls.RepositoryEvent{Action: "transferred", From: repo, To: "nobody/shop"},
			answers: map[string]app.RepositoryState{repo: {ID: 900, Name: "nobody/shop"}}, repo: "nobody/shop",
			ends: "the repository moved to nobody/shop, where the App is not installed"},
		"transferred out of sight": {event: pulls.RepositoryEvent{Action: "transferred", From: repo, To: "nobody/shop"},
			answers: map[string]app.RepositoryState{repo: gone}, repo: repo, ends: "the repository moved to nobody/shop, where the App is not installed"},
		"deleted": {event: pulls.RepositoryEvent{Action: "deleted", From: repo},
			answers: map[string]app.RepositoryState{repo: gone}, repo: repo, ends: "acme/shop was deleted"},
		"deleted and made anew": {event: pulls.RepositoryEvent{Action: "deleted", From: repo},
			answers: map[string]app.RepositoryState{repo: is(func(s *app.RepositoryState) { s.ID = 902 })}, repo: repo, ends: "acme/shop was deleted"},
		"archived": {event: pulls.RepositoryEvent{Action: "archived", From: repo},
			answers: map[string]app.RepositoryState{repo: is(func(s *app.RepositoryState) { s.Archived = true })}, repo: repo, ends: "acme/shop was archived"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			row := h.numbered()
			c.event.RepoID = 900
			unchanged := func(why string) {
				t.Helper()
				require.Equal(t, repo, h.Only().PR.Repo, why)
				require.True(t, h.Only().Ends.PRClosed.IsZero(), why)
			}
			h.GitHub.Repos = unmoved
			require.Contains(t, h.moved(c.event), "GitHub does not say that acme/shop was "+c.event.Action)
			unchanged("what is told is not so")
			h.GitHub.Repos, h.GitHub.Silent = c.answers, true
			require.Contains(t, h.moved(c.event), "GitHub does not tell how acme/shop stands")
			unchanged("GitHub refuses to tell")
			h.GitHub.Down.Store(true)
			e := c.event
			e.Installation = 5001
			_, err := h.Service.RepositoryMoved(t.Context(), e)
			require.ErrorIs(t, err, errDown, "it is asked again")
			require.Empty(t, app.KindOf(err))
			unchanged("GitHub does not answer")
			h.GitHub.Silent = false
			h.GitHub.Down.Store(false)

			h.moved(c.event)
			h.moved(c.event)
			row = h.Only()
			require.Equal(t, c.repo, row.PR.Repo)
			require.Equal(t, cmp.Or(c.followed, 5001), row.PR.Installation)
			require.Equal(t, c.ends == "", row.Ends.PRClosed.IsZero())
			if c.ends != "" {
				require.Equal(t, c.ends, row.Ends.Reason().String())
				require.Len(t, h.Query(`SELECT action FROM audit_events WHERE action = 'end_set'`), 1)
			}
		})
	}
}

func TestAnArchivedRepositoryIsLookedAfterAgainWhenGitHubSaysSo(t *testing.T) {
	h := newFixture(t)
	h.numbered()
	state := reached(repo)
	state.Archived = true
	h.GitHub.Repos, h.GitHub.Installed = map[string]app.RepositoryState{repo: state}, map[string]int64{repo: 5001}
	h.moved(pulls.RepositoryEvent{Action: "archived", RepoID: 900, From: repo})
	seen := h.Event(pulls.ActionSeen, "", true, label)
	seen.PR.RepoID, seen.Archived = 900, true
	h.Sync(seen)
	require.Equal(t, "acme/shop was archived", h.Only().Ends.Reason().String(), "it is seen all the time")
	_, err := h.Service.InstallationChanged(t.Context(), pulls.InstallationEvent{Installation: 5001, Action: "unsuspend", Actor: "maya", ActorID: servicetest.AccountID("maya")})
	require.NoError(t, err)
	require.False(t, h.Only().Ends.PRClosed.IsZero(), "that the App is there again is not what it waits for")
	h.moved(pulls.RepositoryEvent{Action: "unarchived", RepoID: 900, From: repo})
	require.False(t, h.Only().Ends.PRClosed.IsZero(), "told, and not so")
	h.GitHub.Repos[repo] = reached(repo)
	h.moved(pulls.RepositoryEvent{Action: "unarchived", RepoID: 900, From: repo})
	require.True(t, h.Only().Ends.PRClosed.IsZero())
	h.moved(pulls.RepositoryEvent{Action: "archived", RepoID: 900, From: repo})
	require.True(t, h.Only().Ends.PRClosed.IsZero(), "heard late: it is archived no longer")
	seen.Archived = true
	h.Sync(seen)
	require.Equal(t, "acme/shop was archived", h.Only().Ends.Reason().String(), "which nobody told")
}

func TestARepositoryThatTheAppReachesNoMoreStaysEndedThoughAnybodySeesIt(t *testing.T) {
	h := newFixture(t)
	h.numbered()
	h.GitHub.Repos = map[string]app.RepositoryState{repo: {ID: 900, Name: repo}} // it is public
	h.moved(pulls.RepositoryEvent{Action: "deleted", RepoID: 900, From: repo})
	require.False(t, h.Only().Ends.PRClosed.IsZero())
	seen := h.Event(pulls.ActionSeen, "", true, label)
	seen.PR.RepoID = 900
	h.Sync(seen)
	require.False(t, h.Only().Ends.PRClosed.IsZero())
	h.GitHub.Installed = map[string]int64{repo: 5001}
	h.Sync(seen)
	require.True(t, h.Only().Ends.PRClosed.IsZero(), "what the App sees again goes on")
}

func TestWhatHappensToAnInstallation(t *testing.T) {
	for name, c := range map[string]struct {
		gone, back pulls.InstallationEvent
		why        string
	}{
		"suspended": {pulls.InstallationEvent{Action: "suspend"}, pulls.InstallationEvent{Action: "unsuspend"}, "the App was suspended on acme/shop"},
		"removed":   {pulls.InstallationEvent{Action: "removed", Repos: []string{repo}}, pulls.InstallationEvent{Action: "added", Repos: []string{repo}}, "the App was removed from acme/shop"},
		"deleted":   {pulls.InstallationEvent{Action: "deleted"}, pulls.InstallationEvent{Installation: 7001, Action: "created", Repos: []string{repo}}, "the App was removed from acme/shop"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			h.Labeled("will", label)
			change := func(e pulls.InstallationEvent) string {
				h.Helper()
				e.Installation, e.Actor = cmp.Or(e.Installation, 5001), "maya"
				note, err := h.Service.InstallationChanged(t.Context(), e)
				require.NoError(t, err)
				return note
			}
			there := map[string]int64{repo: cmp.Or(c.back.Installation, 5001)}
			h.GitHub.Installed = map[string]int64{repo: 5001}
			require.Contains(t, change(c.gone), "GitHub says that the App reaches acme/shop")
			require.True(t, h.Only().Ends.PRClosed.IsZero(), "told, and not so")
			h.GitHub.Installed, h.GitHub.Silent = nil, true
			require.Contains(t, change(c.gone), "GitHub does not tell how acme/shop stands")
			require.True(t, h.Only().Ends.PRClosed.IsZero(), "GitHub refuses to tell")
			h.GitHub.Silent = false
			h.GitHub.Down.Store(true)
			e := c.gone
			e.Installation = 5001
			_, err := h.Service.InstallationChanged(t.Context(), e)
			require.ErrorIs(t, err, errDown, "it is asked again")
			require.True(t, h.Only().Ends.PRClosed.IsZero(), "GitHub does not answer")
			h.GitHub.Down.Store(false)
			change(pulls.InstallationEvent{Action: "removed", Repos: []string{"acme/other"}})
			change(pulls.InstallationEvent{Action: "removed"})
			require.True(t, h.Only().Ends.PRClosed.IsZero())
			change(c.gone)
			require.Equal(t, c.why, h.Only().Ends.Reason().String())
			require.WithinDuration(t, time.Now().Add(grace), h.Only().Ends.PRClosed, time.Minute)
			change(c.back)
			h.Sync(h.Event(pulls.ActionSeen, "", true, label))
			require.False(t, h.Only().Ends.PRClosed.IsZero(), "heard after the App was gone again, and anybody may see it")
			h.GitHub.Installed = there
			change(c.back)
			require.True(t, h.Only().Ends.PRClosed.IsZero())
			require.Equal(t, cmp.Or(c.back.Installation, 5001), h.Only().PR.Installation)
		})
	}
}

func TestAnInstallationThatWasMadeAnewIsFollowedWhicheverIsToldFirst(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	h.GitHub.Installed = map[string]int64{repo: 7001}
	_, err := h.Service.InstallationChanged(t.Context(), pulls.InstallationEvent{Installation: 5001, Action: "deleted", Actor: "maya", ActorID: servicetest.AccountID("maya")})
	require.NoError(t, err)
	require.True(t, h.Only().Ends.PRClosed.IsZero())
	require.EqualValues(t, 7001, h.Only().PR.Installation)
	_, err = h.Service.InstallationChanged(t.Context(), pulls.InstallationEvent{Installation: 6666, Action: "created", Repos: []string{repo}, Actor: "maya", ActorID: servicetest.AccountID("maya")})
	require.NoError(t, err)
	require.EqualValues(t, 7001, h.Only().PR.Installation, "told by one that GitHub does not name")
}

// An installation may be on thousands of repositories, each named: those that are not known here take nothing.
func TestAnInstallationOnRepositoriesThatNobodyKnowsWaitsForNobody(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	h.GitHub.Installed = map[string]int64{repo: 7001, "acme/a": 7001, "acme/b": 7001}
	e := pulls.InstallationEvent{Installation: 7001, Action: "created", Repos: []string{"acme/a", "acme/b"}, Actor: "maya", ActorID: servicetest.AccountID("maya")}
	_, err := h.Store.Alone(t.Context(), "turns", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, err := h.Service.InstallationChanged(ctx, e)
		return err
	})
	require.NoError(t, err)
	e.Repos = append(e.Repos, repo)
	_, err = h.Service.InstallationChanged(t.Context(), e)
	require.NoError(t, err)
	require.EqualValues(t, 7001, h.Only().PR.Installation)
}

func TestOfAnInstallationOnManyRepositoriesGitHubIsAskedOfEach(t *testing.T) {
	h := newFixture(t)
	h.Catalogue.Quotas = nil
	h.GitHub.Installed = map[string]int64{"acme/r7": 5001}
	for n := range 25 {
		e := h.Event("labeled", "will", true, label)
		e.Label, e.PR.Number, e.PR.Repo = label, 100+n, fmt.Sprintf("acme/r%d", n)
		h.Sync(e)
	}
	before := h.GitHub.Asked.Load()
	ctx, cancel := context.WithCancel(t.Context())
	h.GitHub.Reaching = func(repo string) { // the time is over in the middle of it
		if repo == "acme/r20" {
			cancel()
		}
	}
	suspended := pulls.InstallationEvent{Installation: 5001, Action: "suspend", Actor: "maya", ActorID: servicetest.AccountID("maya")}
	_, err := h.Service.InstallationChanged(ctx, suspended)
	require.ErrorIs(t, err, context.Canceled)
	done := len(h.Query(`SELECT id FROM clusters WHERE end_pr_closed IS NOT NULL`))
	require.Positive(t, done)
	require.Less(t, done, 24)
	h.GitHub.Reaching = nil
	_, err = h.Service.InstallationChanged(t.Context(), suspended)
	require.NoError(t, err)
	require.EqualValues(t, 25+1, h.GitHub.Asked.Load()-before, "what was done is not asked for again; the one that was cut off is")
	for _, row := range h.Clusters() {
		require.Equal(t, row.PR.Repo == "acme/r7", row.Ends.PRClosed.IsZero(), row.PR.Repo)
	}
}

func TestAPullRequestThatIsGoneHasAnEnd(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	for range 2 {
		_, err := h.Service.PullRequestGone(t.Context(), repo, 41, lifecycle.Noted("GitHub shows it no more"))
		require.NoError(t, err)
	}
	require.Equal(t, "GitHub shows it no more", h.Only().Ends.Reason().String())
	require.Len(t, h.Query(`SELECT action FROM audit_events WHERE action = 'end_set'`), 1)
}

// A repository's name is a matter of when: what is told under the old one, late or again, is of the new one by now.
func TestWhatIsToldUnderAnOldNameIsOfTheNewOne(t *testing.T) {
	const to = "acme/store"
	for name, late := range map[string]time.Duration{"again": 0, "before the newest": -time.Second, "after all that was seen": time.Second} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			before := h.Event("opened", "will", true)
			before.PR.RepoID = 900
			h.Sync(before)
			h.GitHub.Repos = map[string]app.RepositoryState{repo: reached(to)}
			h.moved(pulls.RepositoryEvent{Action: "renamed", RepoID: 900, From: repo, To: to})

			e := pulls.PullRequestEvent{PR: before.PR, Actor: "will", ActorID: servicetest.AccountID("will"), Action: "labeled", Label: label}
			e.PR.Labels, e.PR.UpdatedAt = []string{label}, before.PR.UpdatedAt.Add(late)
			is := e.PR // as GitHub says, whichever name it is asked by
			is.Repo, is.UpdatedAt = to, before.PR.UpdatedAt.Add(max(late, 0))
			h.GitHub.PRs = map[int]pullrequests.PullRequest{41: is}
			for range 2 {
				_, err := h.Service.SyncPullRequest(t.Context(), e)
				require.NoError(t, err)
			}
			require.Equal(t, to, h.Only().PR.Repo)

			h.Comment(1, "will", "/ocp status") // told with the old name too
			h.Comment(2, "will", "/ocp create aws-standard")
			require.Equal(t, []string{to}, h.Query(`SELECT DISTINCT repo FROM replies`))
			require.Equal(t, []string{to}, h.Query(`SELECT DISTINCT repo FROM pull_requests`))
			require.Equal(t, []string{to}, h.Query(`SELECT DISTINCT repo FROM clusters`))
		})
	}
}

func TestARepositoryMadeAnewInheritsNoCluster(t *testing.T) {
	h := newFixture(t)
	first := h.Event("labeled", "will", true, label)
	first.Label, first.PR.RepoID = label, 900
	h.Sync(first)
	old := h.Only()

	anew := h.Event("opened", "rita", true)
	anew.PR.RepoID = 902
	h.Sync(anew)
	h.Comment(1, "will", "/ocp destroy")
	require.Equal(t, lifecycle.Present, h.Only().Desired)
	require.Contains(t, h.LastReply(), "has no cluster")
	require.Equal(t, "of a repository that had this name before", h.Sync(first), "told late")

	mine := h.Event("labeled", "will", true, label)
	mine.Label, mine.PR.RepoID = label, 902
	h.Sync(mine)
	rows := h.Clusters()
	require.Len(t, rows, 2)
	require.Equal(t, []int{1, 1}, []int{rows[0].Generation, rows[1].Generation})
	require.True(t, pullrequests.Nameless(rows[0].PR.Repo))
	require.Equal(t, old.ID, rows[0].ID)

	h.GitHub.Repos = map[string]app.RepositoryState{repo: {Installation: 5001, ID: 902, Name: repo}}
	h.moved(pulls.RepositoryEvent{Action: "deleted", RepoID: 900, From: repo})
	require.True(t, h.Clusters()[1].Ends.PRClosed.IsZero(), "the one that was deleted is another")
	h.GitHub.Repos = nil
	h.moved(pulls.RepositoryEvent{Action: "deleted", RepoID: 902, From: repo})
	require.False(t, h.Clusters()[1].Ends.PRClosed.IsZero())
}

// The App was installed anew, and nobody told: what tells of a pull request comes by the new number.
func TestTheInstallationThatTellsOfAPullRequestShowsItsClusters(t *testing.T) {
	h := newFixture(t)
	h.Labeled("will", label)
	e := h.Event("synchronize", "will", true, label)
	e.PR.Installation = 7001
	h.Sync(e)
	h.Sync(e)
	require.EqualValues(t, 7001, h.Only().PR.Installation)
	require.Equal(t, []string{"7001"}, h.Query(`SELECT DISTINCT installation::text FROM subscribers`))
	require.Len(t, h.Query(`SELECT action FROM audit_events WHERE action = 'repository_renamed' AND target_cluster_id <> ''`), 1)
}
