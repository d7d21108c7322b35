package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
)

// known is a pull request of which everything is known.
func known(number, second int) pullrequests.PullRequest {
	return pullrequests.PullRequest{
		Installation: 5001, Repo: "acme/shop", Number: number, Open: true, Draft: true, Labels: []string{"ocp/aws-minimal-test"}, Author: "maya",
		Association: "MEMBER", Head: "abc123", HeadRef: "feature", Base: "main", RepoID: 900,
		UpdatedAt: time.Date(2026, 11, 20, 12, 0, second, 0, time.UTC),
	}
}

func seen(t testing.TB, s *store.Store, pr pullrequests.PullRequest) {
	t.Helper()
	fresh, err := s.PullRequests.SeePullRequest(t.Context(), pr, false)
	require.NoError(t, err)
	require.True(t, fresh)
}

func TestSinceWhenAPullRequestHasItsHead(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	at := func(second int) time.Time { return known(41, second).UpdatedAt }
	for _, step := range []struct {
		second int
		head   string
		want   time.Time
		name   string
	}{
		{1, "abc123", at(1), "no later than it was first seen"},
		{2, "abc123", at(1), "what else changes is no push"},
		{4, "def456", at(4), "a push"},
		{3, "abc123", at(4), "an older state changes nothing"},
		{5, "def456", at(4), "still the same head"},
		{6, "abc123", at(6), "pushed back to the head of before: it was not there in between"},
	} {
		pr := known(41, step.second)
		pr.Head = step.head
		_, err := s.PullRequests.SeePullRequest(t.Context(), pr, false)
		require.NoError(t, err)
		now, err := s.PullRequests.PullRequest(t.Context(), "acme/shop", 41)
		require.NoError(t, err)
		require.True(t, step.want.Equal(now.HeadAt), "%s: %s", step.name, now.HeadAt)
	}
}

func TestWhatIsNotToldStaysAsItIsKnown(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	is := func(want pullrequests.PullRequest) {
		t.Helper()
		pr, err := s.PullRequests.PullRequest(t.Context(), "acme/shop", 41)
		require.NoError(t, err)
		pr.HeadAt = time.Time{} // see TestSinceWhenAPullRequestHasItsHead
		require.Equal(t, want, pr)
	}
	all := known(41, 1)
	seen(t, s, all)
	is(all)

	little := known(41, 2)
	little.Draft, little.Association, little.HeadRef, little.RepoID, little.Head = false, "", "", 0, "def456"
	seen(t, s, little)
	want := known(41, 2)
	want.Head = "def456"
	is(want)

	ready := known(41, 3)
	ready.Draft, ready.Association = false, "OWNER"
	seen(t, s, ready)
	is(ready)

	merged := known(41, 4)
	merged.Open, merged.Merged, merged.Draft = false, true, false
	seen(t, s, merged)
	is(merged)
	closed := merged
	closed.Merged, closed.HeadRef, closed.UpdatedAt = false, "", closed.UpdatedAt.Add(time.Second)
	seen(t, s, closed)
	merged.UpdatedAt = closed.UpdatedAt
	is(merged)

	both := known(42, 1)
	both.Merged = true
	seen(t, s, both)
	both.Merged = false
	pr, err := s.PullRequests.PullRequest(t.Context(), "acme/shop", 42)
	require.NoError(t, err)
	pr.HeadAt = time.Time{}
	require.Equal(t, both, pr, "what is open is not merged")
}

func numbers(prs []pullrequests.PullRequest) (list []int) {
	for _, pr := range prs {
		list = append(list, pr.Number)
	}
	return list
}

func TestThePullRequestsWithAWantedClusterAreLookedAtInTurn(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	look := func(limit int) []int {
		t.Helper()
		prs, err := s.PullRequests.PullsToLook(t.Context(), clock.now(), limit)
		require.NoError(t, err)
		return numbers(prs)
	}
	for number := 41; number <= 45; number++ {
		if number != 44 {
			seen(t, s, known(number, 1))
		}
	}
	for _, number := range []int{41, 42, 43, 44} {
		accept(t, s, fromPR(granted(fmt.Sprintf("c%d", number)), number))
	}
	second := fromPR(granted("second"), 41)
	second.Row.Profile = "other"
	accept(t, s, second)
	gone := accept(t, s, fromPR(granted("gone"), 45))
	_, err := s.Destroy(t.Context(), gone.ID, maya("done"))
	require.NoError(t, err)

	require.Empty(t, look(10), "they were just heard of")
	clock.pass(time.Minute)
	require.Equal(t, []int{41, 42, 43, 44}, look(10))
	require.NoError(t, s.PullRequests.Looked(t.Context(), pullrequests.PullRequest{Repo: "acme/shop", Number: 42}))
	clock.pass(time.Minute)
	require.NoError(t, s.PullRequests.Looked(t.Context(), pullrequests.PullRequest{Repo: "acme/shop", Number: 41}))
	require.Equal(t, []int{43, 44, 42}, look(10), "the one that was looked at longest ago is the last that was")
	clock.pass(time.Minute)
	require.Equal(t, []int{43, 44, 42, 41}, look(10))
	require.Equal(t, []int{43, 44}, look(2))
	require.Equal(t, 4, count(t, s, `SELECT count(*) FROM looks`), "what has no cluster any more was forgotten")

	prs, err := s.PullRequests.PullsToLook(t.Context(), clock.now(), 10)
	require.NoError(t, err)
	prs[0].HeadAt = time.Time{}
	require.Equal(t, known(43, 1), prs[0])
	require.Equal(t, pullrequests.PullRequest{
		Installation: 5001, Repo: "acme/shop", Number: 44, Open: true, Labels: []string{}, Head: "abc123", UpdatedAt: prs[1].UpdatedAt, HeadAt: prs[1].UpdatedAt,
	}, prs[1], "one that was never seen is known by its cluster")

	require.NoError(t, s.PullRequests.Looked(t.Context(), pullrequests.PullRequest{Repo: "acme/shop", Number: 45}), "too late to matter")
	again := fromPR(granted("again"), 45)
	again.Row.Generation = 2
	accept(t, s, again)
	clock.pass(time.Minute)
	require.Equal(t, []int{43, 44, 42, 41, 45}, look(10), "wanted again, looked at again")
}

func TestThePullRequestsOfAnInstallationAreFound(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for i, repo := range []string{"acme/shop", "acme/web", "acme/docs"} {
		a := fromPR(granted(fmt.Sprintf("c%d", i)), 41+i)
		a.Row.PR.Repo = repo
		if repo == "acme/docs" {
			a.Row.PR.Installation = 7
		}
		accept(t, s, a)
	}
	for _, c := range []struct {
		installation int64
		repos        []string
		want         []int
	}{
		{5001, nil, []int{41, 42}},
		{5001, []string{"acme/web", "acme/docs"}, []int{42}},
		{5001, []string{}, nil},
		{7, nil, []int{43}},
		{8, nil, nil},
	} {
		prs, err := s.PullRequests.PullsOf(t.Context(), c.installation, c.repos)
		require.NoError(t, err)
		require.Equal(t, c.want, numbers(prs), "%d %v", c.installation, c.repos)
	}
}

func TestThePullRequestsThatCountAsClosedAreFound(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	var pulls []pullrequests.PullRequest
	at := clock.now().Add(time.Hour)
	for number := 41; number <= 44; number++ {
		pulls = append(pulls, known(number, 1))
		row := accept(t, s, fromPR(granted(fmt.Sprintf("c%d", number)), number))
		if number == 42 || number == 44 {
			require.NoError(t, s.SetEnd(t.Context(), row.ID, clusters.EndPRClosed, &at, lifecycle.Reason{}, "test"))
		}
		if number == 44 {
			_, err := s.Destroy(t.Context(), row.ID, maya("done"))
			require.NoError(t, err)
		}
	}
	ends, err := s.PullRequests.PullsEnding(t.Context(), pulls)
	require.NoError(t, err)
	require.Len(t, ends, 4)
	for i, end := range ends {
		require.Equal(t, i == 1, end.Equal(at), "%d: %s", pulls[i].Number, end)
	}
}
