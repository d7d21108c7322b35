package app_test

import (
	"cmp"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
)

func (h *house) moved(e app.RepositoryEvent) string {
	h.Helper()
	e.Installation, e.Actor = cmp.Or(e.Installation, 5001), "maya"
	note, err := h.desk.RepositoryMoved(h.Context(), e)
	require.NoError(h, err)
	return note
}

func TestWhatHappensToARepository(t *testing.T) {
	const to = "acme/store"
	for name, c := range map[string]struct {
		event app.RepositoryEvent
		repo  string
		ends  string // why; empty: it goes on
	}{
		"renamed":                 {app.RepositoryEvent{Action: "renamed", From: repo, To: to}, to, ""},
		"transferred to ours":     {app.RepositoryEvent{Action: "transferred", From: repo, To: "umbrella/shop"}, "umbrella/shop", ""},
		"transferred to a nobody": {app.RepositoryEvent{Action: "transferred", From: repo, To: "nobody/shop"}, "nobody/shop", "the repository moved to nobody/shop, where the App is not installed"},
		"deleted":                 {app.RepositoryEvent{Action: "deleted", From: repo}, repo, "acme/shop was deleted"},
		"archived":                {app.RepositoryEvent{Action: "archived", From: repo}, repo, "acme/shop was archived"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.github.installed = map[string]int64{"umbrella/shop": 6001}
			h.labeled("will", label)
			h.moved(c.event)
			h.moved(c.event)
			row := h.only()
			require.Equal(t, c.repo, row.PR.Repo)
			require.Equal(t, c.ends == "", row.Ends.PRClosed.IsZero())
			if c.ends != "" {
				require.Equal(t, c.ends, row.Ends.Reason())
			}
			seen := h.event(app.ActionSeen, "", true, label)
			seen.PR.Repo, seen.PR.Installation, seen.Archived = c.repo, row.PR.Installation, name == "archived"
			h.sync(seen)
			require.Equal(t, c.ends == "", h.only().Ends.PRClosed.IsZero(), "anybody sees what is public")
			h.github.installed[c.repo] = 5001
			h.sync(seen)
			require.Equal(t, name == "archived", !h.only().Ends.PRClosed.IsZero(), "what the App sees again goes on; what is archived is seen all the time")
			if name == "archived" {
				_, err := h.desk.InstallationChanged(t.Context(), app.InstallationEvent{Installation: 5001, Action: "unsuspend", Actor: "maya"})
				require.NoError(t, err)
				require.False(t, h.only().Ends.PRClosed.IsZero(), "that the App is there again is not what it waits for")
				h.moved(app.RepositoryEvent{Action: "unarchived", From: repo})
				require.True(t, h.only().Ends.PRClosed.IsZero())
				h.moved(c.event)
				seen.Archived = false
				h.sync(seen)
				require.True(t, h.only().Ends.PRClosed.IsZero(), "heard late: it is archived no longer")
				seen.Archived = true
				h.sync(seen)
				require.Equal(t, "acme/shop was archived", h.only().Ends.Reason(), "which nobody told")
			}
		})
	}
}

func TestWhatHappensToAnInstallation(t *testing.T) {
	for name, c := range map[string]struct {
		gone, back app.InstallationEvent
		why        string
	}{
		"suspended": {app.InstallationEvent{Action: "suspend"}, app.InstallationEvent{Action: "unsuspend"}, "the App was suspended on acme/shop"},
		"removed":   {app.InstallationEvent{Action: "removed", Repos: []string{repo}}, app.InstallationEvent{Action: "added", Repos: []string{repo}}, "the App was removed from acme/shop"},
		"deleted":   {app.InstallationEvent{Action: "deleted"}, app.InstallationEvent{Installation: 7001, Action: "created", Repos: []string{repo}}, "the App was removed from acme/shop"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			h.labeled("will", label)
			change := func(e app.InstallationEvent) {
				h.Helper()
				e.Installation, e.Actor = cmp.Or(e.Installation, 5001), "maya"
				_, err := h.desk.InstallationChanged(t.Context(), e)
				require.NoError(t, err)
			}
			there := map[string]int64{repo: cmp.Or(c.back.Installation, 5001)}
			if name != "deleted" {
				h.github.installed = there
				change(c.gone)
				require.True(t, h.only().Ends.PRClosed.IsZero(), "heard after the App was there again")
				h.github.installed = nil
			}
			change(app.InstallationEvent{Action: "removed", Repos: []string{"acme/other"}})
			change(app.InstallationEvent{Action: "removed"})
			require.True(t, h.only().Ends.PRClosed.IsZero())
			change(c.gone)
			require.Equal(t, c.why, h.only().Ends.Reason())
			require.WithinDuration(t, time.Now().Add(grace), h.only().Ends.PRClosed, time.Minute)
			change(c.back)
			h.sync(h.event(app.ActionSeen, "", true, label))
			require.False(t, h.only().Ends.PRClosed.IsZero(), "heard after the App was gone again, and anybody may see it")
			h.github.installed = there
			change(c.back)
			require.True(t, h.only().Ends.PRClosed.IsZero())
			require.Equal(t, cmp.Or(c.back.Installation, 5001), h.only().PR.Installation)
		})
	}
}

// An installation may be on thousands of repositories, each named: those that are not known here take nothing.
func TestAnInstallationOnRepositoriesThatNobodyKnowsWaitsForNobody(t *testing.T) {
	h := newHouse(t)
	h.labeled("will", label)
	h.github.installed = map[string]int64{repo: 7001}
	e := app.InstallationEvent{Installation: 7001, Action: "created", Repos: []string{"acme/a", "acme/b"}, Actor: "maya"}
	_, err := h.store.Alone(t.Context(), "turns", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		_, err := h.desk.InstallationChanged(ctx, e)
		return err
	})
	require.NoError(t, err)
	e.Repos = append(e.Repos, repo)
	_, err = h.desk.InstallationChanged(t.Context(), e)
	require.NoError(t, err)
	require.EqualValues(t, 7001, h.only().PR.Installation)
}

func TestOfAnInstallationOnManyRepositoriesGitHubIsAskedOfSome(t *testing.T) {
	h := newHouse(t)
	h.book.Quotas = nil
	for n := range 25 {
		e := h.event("labeled", "will", true, label)
		e.Label, e.PR.Number, e.PR.Repo = label, 100+n, fmt.Sprintf("acme/r%d", n)
		h.sync(e)
	}
	before := h.github.asked.Load()
	_, err := h.desk.InstallationChanged(t.Context(), app.InstallationEvent{Installation: 5001, Action: "suspend", Actor: "maya"})
	require.NoError(t, err)
	require.EqualValues(t, 20, h.github.asked.Load()-before)
	for _, row := range h.clusters() {
		require.False(t, row.Ends.PRClosed.IsZero(), row.PR.Repo)
	}
}

func TestAPullRequestThatIsGoneHasAnEnd(t *testing.T) {
	h := newHouse(t)
	h.labeled("will", label)
	for range 2 {
		_, err := h.desk.PullRequestGone(t.Context(), repo, 41, "GitHub shows it no more", "")
		require.NoError(t, err)
	}
	require.Equal(t, "GitHub shows it no more", h.only().Ends.Reason())
	require.Len(t, h.query(`SELECT action FROM audit_events WHERE action = 'end_set'`), 1)
}

// A repository's name is a matter of when: what is told under the old one, late or again, is of the new one by now.
func TestWhatIsToldUnderAnOldNameIsOfTheNewOne(t *testing.T) {
	const to = "acme/store"
	for name, late := range map[string]time.Duration{"again": 0, "before the newest": -time.Second, "after all that was seen": time.Second} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			before := h.event("opened", "will", true)
			before.PR.RepoID = 900
			h.sync(before)
			h.moved(app.RepositoryEvent{Action: "renamed", RepoID: 900, From: repo, To: to})

			e := app.PullRequestEvent{PR: before.PR, Actor: "will", Action: "labeled", Label: label}
			e.PR.Labels, e.PR.UpdatedAt = []string{label}, before.PR.UpdatedAt.Add(late)
			is := e.PR // as GitHub says, whichever name it is asked by
			is.Repo, is.UpdatedAt = to, before.PR.UpdatedAt.Add(max(late, 0))
			h.github.prs = map[int]store.PullRequest{41: is}
			for range 2 {
				_, err := h.desk.SyncPullRequest(t.Context(), e)
				require.NoError(t, err)
			}
			require.Equal(t, to, h.only().PR.Repo)

			h.comment(1, "will", "/ocp status") // told with the old name too
			h.comment(2, "will", "/ocp create aws-standard")
			require.Equal(t, []string{to}, h.query(`SELECT DISTINCT repo FROM replies`))
			require.Equal(t, []string{to}, h.query(`SELECT DISTINCT repo FROM pull_requests`))
			require.Equal(t, []string{to}, h.query(`SELECT DISTINCT repo FROM clusters`))
		})
	}
}

func TestARepositoryMadeAnewInheritsNoCluster(t *testing.T) {
	h := newHouse(t)
	first := h.event("labeled", "will", true, label)
	first.Label, first.PR.RepoID = label, 900
	h.sync(first)
	old := h.only()

	anew := h.event("opened", "rita", true)
	anew.PR.RepoID = 902
	h.sync(anew)
	h.comment(1, "will", "/ocp destroy")
	require.Equal(t, lifecycle.Present, h.only().Wish)
	require.Contains(t, h.lastReply(), "has no cluster")
	require.Equal(t, "of a repository that had this name before", h.sync(first), "told late")

	mine := h.event("labeled", "will", true, label)
	mine.Label, mine.PR.RepoID = label, 902
	h.sync(mine)
	rows := h.clusters()
	require.Len(t, rows, 2)
	require.Equal(t, []int{1, 1}, []int{rows[0].Generation, rows[1].Generation})
	require.True(t, store.Nameless(rows[0].PR.Repo))
	require.Equal(t, old.ID, rows[0].ID)

	h.moved(app.RepositoryEvent{Action: "deleted", RepoID: 900, From: repo})
	require.True(t, h.clusters()[1].Ends.PRClosed.IsZero(), "the one that was deleted is another")
	h.moved(app.RepositoryEvent{Action: "deleted", RepoID: 902, From: repo})
	require.False(t, h.clusters()[1].Ends.PRClosed.IsZero())
}

// The App was installed anew, and nobody told: what tells of a pull request comes by the new number.
func TestTheInstallationThatTellsOfAPullRequestShowsItsClusters(t *testing.T) {
	h := newHouse(t)
	h.labeled("will", label)
	e := h.event("synchronize", "will", true, label)
	e.PR.Installation = 7001
	h.sync(e)
	h.sync(e)
	require.EqualValues(t, 7001, h.only().PR.Installation)
	require.Equal(t, []string{"7001"}, h.query(`SELECT DISTINCT installation::text FROM subscribers`))
	require.Len(t, h.query(`SELECT action FROM audit_events WHERE action = 'repository_renamed' AND target_cluster_id <> ''`), 1)
}
