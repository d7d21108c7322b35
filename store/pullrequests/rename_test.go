package pullrequests_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/notices"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// of is a granted request of a pull request that was seen.
func of(t testing.TB, s *store.Store, name, repo string, id int64, number int) clusters.Row {
	t.Helper()
	pr := storetest.Known(number, 1)
	pr.Repo, pr.RepoID = repo, id
	storetest.Seen(t, s, pr)
	a := storetest.FromPR(storetest.Granted(name), number)
	a.Row.PR.Repo = repo
	return storetest.Accept(t, s, a)
}

// where says which repository each cluster is of, by its own row, its places and its pull request.
func where(t testing.TB, s *store.Store, rows ...clusters.Row) (repos []string) {
	t.Helper()
	for _, row := range rows {
		now, err := s.Cluster(context.Background(), row.ID)
		require.NoError(t, err)
		for _, place := range storetest.PlacesOf(t, s, row.ID) {
			require.Equal(t, now.PR.Repo, place.Repo)
			require.Equal(t, now.PR.Installation, place.Installation)
		}
		_, err = s.PullRequests.PullRequest(context.Background(), now.PR.Repo, now.PR.Number)
		require.NoError(t, err)
		repos = append(repos, now.PR.Repo)
	}
	return repos
}

func TestEverythingFollowsARepositoryToItsNewName(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	shop := of(t, s, "shop", "acme/shop", 900, 41)
	other := of(t, s, "other", "acme/web", 901, 41)
	past := of(t, s, "past", "acme/shop", 900, 42)
	_, err := s.Destroy(t.Context(), past.ID, storetest.Maya("done"))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Destroyed, storetest.Step(t, s, past.ID).Next.Status)
	waits := storetest.FromPR(storetest.Granted("waits"), 43)
	waits.Turn = &store.TurnAsk{Words: "no room", Position: 1, Limits: []lifecycle.Limit{
		{Quota: "q", Scope: lifecycle.ScopeRepository, Key: "acme/shop", What: lifecycle.CountLive, Most: 1},
		{Quota: "q", Scope: lifecycle.ScopeTeam, Key: "acme/shop", What: lifecycle.CountLive, Most: 1}}}
	storetest.Seen(t, s, storetest.Known(43, 1))
	waiting := storetest.Accept(t, s, waits)
	reply := clusters.Reply{Cause: "comment:1", Installation: 5001, Repo: "acme/shop", Number: 41, Body: "hello"}
	require.NoError(t, s.Outbox.SaveReply(t.Context(), reply))
	reply.Cause = "comment:2"
	require.NoError(t, s.Outbox.SaveReply(t.Context(), reply))
	require.NoError(t, s.Outbox.Replied(t.Context(), storetest.Text(t, s, `SELECT id FROM replies WHERE cause = 'comment:2'`), 9))
	require.NoError(t, s.Outbox.SaveEffect(t.Context(), storetest.Eyes("e")))
	storetest.ShowAll(t, s, shop.ID)

	n, err := s.PullRequests.RenameRepository(t.Context(), "acme/shop", "globex/store", 900, 6001, storetest.Maya("moved"))
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, []string{"globex/store", "globex/store", "globex/store", "acme/web"}, where(t, s, shop, past, waiting, other))
	now, err := s.Cluster(t.Context(), shop.ID)
	require.NoError(t, err)
	require.Equal(t, clusters.PRRef{Installation: 6001, Repo: "globex/store", Number: 41, Head: "abc123"}, *now.PR)
	require.Equal(t, shop.Cluster.Version+1, now.Cluster.Version)
	require.Equal(t, 4, storetest.Count(t, s, `SELECT count(*) FROM subscribers WHERE cluster_id = $1 AND shown_version < wanted_version`, shop.ID), "its links lead elsewhere")
	require.Equal(t, "globex/store acme/shop", storetest.Text(t, s, `SELECT string_agg(repo, ' ' ORDER BY cause) FROM replies`), "what was said stays where it is")
	require.Equal(t, "globex/store 6001", storetest.Text(t, s, `SELECT repo || ' ' || installation FROM effects`))
	require.Equal(t, "globex/store acme/shop", storetest.Text(t, s, `
		SELECT string_agg(l ->> 'key', ' ' ORDER BY nr) FROM turns, jsonb_array_elements(limits) WITH ORDINALITY AS e (l, nr)`))
	pr, err := s.PullRequests.PullRequest(t.Context(), "globex/store", 41)
	require.NoError(t, err)
	require.Equal(t, int64(6001), pr.Installation)
	_, err = s.PullRequests.PullRequest(t.Context(), "acme/shop", 41)
	require.ErrorIs(t, err, db.ErrNotFound)
	events, err := s.Timeline(t.Context(), shop.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"repository_renamed", storetest.Maya("").Actor}, []string{events[len(events)-1].Action, events[len(events)-1].Actor})
	require.JSONEq(t, `{"why":"moved","before":"acme/shop","after":"globex/store"}`, string(events[len(events)-1].Meta))

	lines := storetest.Count(t, s, `SELECT count(*) FROM audit_events`)
	require.Zero(t, storetest.Renamed(t, s, "acme/shop", "globex/store", 900), "heard twice")
	require.Zero(t, storetest.Renamed(t, s, "acme/shop", "acme/old", 900), "heard late")
	require.Zero(t, storetest.Renamed(t, s, "acme/none", "acme/any", 0))
	require.Equal(t, lines, storetest.Count(t, s, `SELECT count(*) FROM audit_events`))
	_, err = s.PullRequests.RenameRepository(t.Context(), "acme/shop", "", 900, 0, storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrConflict)

	n, err = s.PullRequests.RenameRepository(t.Context(), "globex/store", "globex/store", 900, 6002, storetest.Maya("installed again"))
	require.NoError(t, err)
	require.Equal(t, 3, n, "the same name by another installation")
	require.Equal(t, []string{"globex/store"}, where(t, s, shop))
	require.Zero(t, storetest.Renamed(t, s, "globex/store", "globex/store", 900))
}

// A merge queue's own cluster belongs to no pull request, and ends with its group, whether its check is on the commit or not yet.
func TestTheClustersOfAMergeQueueFollowTheirRepository(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	of(t, s, "shop", "acme/shop", 900, 41)
	g := outbox.MergeGroup{Installation: 5001, Repo: "acme/shop", Head: "def456", Number: 41, PullHead: "abc123", Mode: "cluster"}
	_, err := s.Outbox.SaveMergeGroup(t.Context(), g)
	require.NoError(t, err)
	shown := storetest.Accept(t, s, storetest.Granted("shown"))
	require.NoError(t, s.Outbox.ShowOnCommit(t.Context(), shown.ID, g))
	a := storetest.Granted("asked")
	asked, err := storetest.Judge(s, storetest.Keyed(storetest.Requests(a), g.Key(a.Row.Profile)), a)
	require.NoError(t, err)

	require.Equal(t, 1, storetest.Renamed(t, s, "acme/shop", "acme/store", 900))
	late, err := s.Outbox.EndMergeGroup(t.Context(), g, "dequeued")
	require.NoError(t, err)
	require.Empty(t, late, "another repository may have the name")
	g.Repo = "acme/store"
	found, err := s.Outbox.EndMergeGroup(t.Context(), g, "dequeued")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{shown.ID, asked.ID}, found)

	_, err = s.Pool().Exec(t.Context(), `INSERT INTO request_keys (principal, key, cluster_id, created_at)
		SELECT principal, replace(key, 'acme/store', 'acme/third'), cluster_id, created_at FROM request_keys WHERE key LIKE 'merge_group:%'`)
	require.NoError(t, err)
	require.Equal(t, 1, storetest.Renamed(t, s, "acme/store", "acme/third", 900), "although a delivery with the new name came first")
}

func TestChannelsHearOfARepositoryUnderItsNewName(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	of(t, s, "shop", "Acme/Shop", 900, 41)
	subscribe := func(channel, repo string, events ...string) {
		sub := notices.Subscription{Workspace: "T1", Channel: channel, Repo: repo, Events: events, CreatedBy: "slack:T1/UMAYA"}
		require.NoError(t, s.Notices.Subscribe(t.Context(), sub, storetest.Maya("")))
	}
	subscribe("C1", "acme/shop", "ready")
	subscribe("C2", "acme/shop", "failed", "ready")
	subscribe("C2", "acme/store", "blocked", "ready")
	subscribe("C3", "acme/web", "ready")
	heard := func() string {
		return storetest.Text(t, s, `SELECT string_agg(concat_ws(' ', channel, repo, array_to_string(events, ',')), '; ' ORDER BY channel) FROM channel_subscriptions`)
	}

	storetest.Renamed(t, s, "Acme/Shop", "Acme/Store", 900)
	const now = "C1 acme/store ready; C2 acme/store blocked,failed,ready; C3 acme/web ready"
	require.Equal(t, now, heard())
	storetest.Renamed(t, s, "Acme/Shop", "Acme/Store", 900)
	storetest.Renamed(t, s, "Acme/Store", "Acme/store", 900)
	require.Equal(t, now, heard())
	list, err := s.Notices.Subscribed(t.Context(), "failed", "", "Acme/store")
	require.NoError(t, err)
	require.Len(t, list, 1)

	anew := storetest.Known(41, 5)
	anew.Repo, anew.RepoID = "Acme/store", 902
	storetest.Seen(t, s, anew)
	require.Equal(t, now, heard(), "a repository that lost its name has none by which a channel could hear of it")
}

// Whichever order the three renamings of a swap are heard in, each twice, every row ends at a name that leads to its own
// repository, and none at the other's.
func TestTwoRepositoriesSwapTheirNames(t *testing.T) {
	t.Parallel()
	type move struct {
		from, to string
		id       int64
	}
	moves := []move{{"acme/shop", "acme/tmp", 900}, {"acme/web", "acme/shop", 901}, {"acme/tmp", "acme/web", 900}}
	for _, c := range []struct {
		order []int
		shop  string
	}{
		{[]int{0, 1, 2}, "acme/web"},
		{[]int{0, 2, 1}, "acme/web"},
		{[]int{1, 0, 2}, "acme/web"},
		{[]int{1, 2, 0}, "acme/web"},
		{[]int{2, 0, 1}, "acme/tmp"}, // GitHub leads from there to its name, and the next that is heard of it makes it right
		{[]int{2, 1, 0}, "acme/tmp"},
	} {
		t.Run(fmt.Sprint(c.order), func(t *testing.T) {
			t.Parallel()
			s, _ := storetest.Open(t)
			shop, web := of(t, s, "one", "acme/shop", 900, 41), of(t, s, "two", "acme/web", 901, 41)
			for _, i := range c.order {
				storetest.Renamed(t, s, moves[i].from, moves[i].to, moves[i].id)
				if i != 2 { // nothing that is called otherwise since is moved back
					storetest.Renamed(t, s, moves[i].from, moves[i].to, moves[i].id)
				}
			}
			require.Equal(t, []string{c.shop, "acme/shop"}, where(t, s, shop, web))
			for _, m := range moves {
				storetest.Renamed(t, s, m.from, m.to, m.id)
			}
			require.Equal(t, []string{"acme/web", "acme/shop"}, where(t, s, shop, web), "all of them again")
			require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM pull_requests`))
		})
	}
}

func TestAPullRequestSeenUnderANewNameTakesItsRepositoryThere(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, beside := of(t, s, "shop", "acme/shop", 900, 41), of(t, s, "beside", "acme/shop", 900, 42)
	late := storetest.Known(41, 1)
	now := storetest.Known(41, 5)
	now.Repo = "acme/store"
	storetest.Seen(t, s, now)
	require.Equal(t, []string{"acme/store", "acme/store"}, where(t, s, row, beside))
	fresh, err := s.PullRequests.SeePullRequest(t.Context(), late, false)
	require.NoError(t, err)
	require.False(t, fresh, "of the old name only old things are heard")
	require.Equal(t, []string{"acme/store", "acme/store"}, where(t, s, row, beside))
	require.Equal(t, db.Lifecycle, storetest.Text(t, s, `SELECT DISTINCT actor FROM audit_events WHERE action = 'repository_renamed'`))

	again := storetest.Known(41, 9) // a repository of the old name that has nothing to do with it
	again.RepoID = 902
	storetest.Seen(t, s, again)
	require.Equal(t, []string{"acme/store", "acme/store"}, where(t, s, row, beside))
}

func TestARepositoryMadeAnewUnderANameInheritsNothing(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, beside := of(t, s, "shop", "acme/shop", 900, 41), of(t, s, "beside", "acme/shop", 900, 42)
	anew := storetest.Known(41, 5)
	anew.RepoID = 902
	storetest.Seen(t, s, anew)
	require.Equal(t, []string{"repository/~900", "repository/~900"}, where(t, s, row, beside))
	_, err := s.ClusterForPR(t.Context(), "acme/shop", 41, row.Profile)
	require.ErrorIs(t, err, db.ErrNotFound)

	late, err := s.PullRequests.SeePullRequest(t.Context(), storetest.Known(41, 4), true)
	require.NoError(t, err)
	require.False(t, late, "what is heard late of the one before")
	pr, err := s.PullRequests.PullRequest(t.Context(), "acme/shop", 41)
	require.NoError(t, err)
	require.Equal(t, int64(902), pr.RepoID)

	again := storetest.Known(41, 7)
	again.Repo = "acme/store"
	storetest.Seen(t, s, again)
	require.Equal(t, []string{"acme/store", "acme/store"}, where(t, s, row, beside), "it was renamed, and is heard of again")
	elsewhere, err := s.PullRequests.PullRequestElsewhere(t.Context(), storetest.Known(41, 1))
	require.NoError(t, err)
	require.Equal(t, "acme/store", elsewhere.Repo)
	_, err = s.PullRequests.PullRequestElsewhere(t.Context(), again)
	require.ErrorIs(t, err, db.ErrNotFound)
}

// Rows of before numbers were kept follow whoever alone has the name; and where both names were in use, nothing is lost.
func TestRowsWithoutANumberFollowTheName(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	old, both := of(t, s, "old", "acme/shop", 0, 41), of(t, s, "both", "acme/shop", 0, 42)
	newer := storetest.Known(42, 9)
	newer.Repo, newer.RepoID, newer.Head = "acme/store", 900, "newer"
	storetest.Seen(t, s, newer)
	a := storetest.FromPR(storetest.Granted("same"), 42)
	a.Row.PR.Repo = "acme/store"
	same := storetest.Accept(t, s, a)

	require.Equal(t, 1, storetest.Renamed(t, s, "acme/shop", "acme/store", 900))
	require.Equal(t, []string{"acme/store", "acme/store"}, where(t, s, old, same))
	stays, err := s.Cluster(t.Context(), both.ID)
	require.NoError(t, err)
	require.Equal(t, "acme/shop", stays.PR.Repo, "a wanted cluster of the same pull request and profile is there already")
	pr, err := s.PullRequests.PullRequest(t.Context(), "acme/store", 42)
	require.NoError(t, err)
	require.Equal(t, "newer", pr.Head)
	clock.Pass(time.Minute)
	prs, err := s.PullRequests.PullsToLook(t.Context(), clock.Now(), 10)
	require.NoError(t, err)
	require.Len(t, prs, 3, "it is still looked at")

	_, err = s.Destroy(t.Context(), same.ID, storetest.Maya("one is enough"))
	require.NoError(t, err)
	require.Zero(t, storetest.Renamed(t, s, "acme/shop", "acme/store", 900), "two of one generation")
	strangers := of(t, s, "new", "acme/shop", 903, 7)
	require.Zero(t, storetest.Renamed(t, s, "acme/shop", "acme/store", 900), "heard late, when the name is another's")
	require.Equal(t, []string{"acme/shop"}, where(t, s, strangers))
}

func TestARenamingIsOnceHoweverManyHearOfItAtATime(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	var rows []clusters.Row
	for i := range 5 {
		rows = append(rows, of(t, s, fmt.Sprintf("c%d", i), "acme/shop", 900, 41+i))
	}
	var wg sync.WaitGroup
	moved := make([]int, 6)
	for w := range moved {
		wg.Go(func() { moved[w] = storetest.Renamed(t, s, "acme/shop", "acme/store", 900) })
		wg.Go(func() {
			if err := storetest.Decide(s, rows[w%len(rows)].ID); err != nil {
				t.Error(err)
			}
			if _, err := s.Turns(context.Background()); err != nil {
				t.Error(err)
			}
			if err := s.Outbox.FollowHead(context.Background(), "acme/store", 41+w, "def456"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	slices.Sort(moved)
	require.Equal(t, []int{0, 0, 0, 0, 0, 5}, moved)
	require.Equal(t, slices.Repeat([]string{"acme/store"}, 5), where(t, s, rows...))
}
