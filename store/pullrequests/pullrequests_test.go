package pullrequests_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestSinceWhenAPullRequestHasItsHead(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	at := func(second int) time.Time { return storetest.Known(41, second).UpdatedAt }
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
		pr := storetest.Known(41, step.second)
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
	s, _ := storetest.Open(t)
	is := func(want pullrequests.PullRequest) {
		t.Helper()
		pr, err := s.PullRequests.PullRequest(t.Context(), "acme/shop", 41)
		require.NoError(t, err)
		pr.HeadAt = time.Time{} // see TestSinceWhenAPullRequestHasItsHead
		require.Equal(t, want, pr)
	}
	all := storetest.Known(41, 1)
	storetest.Seen(t, s, all)
	is(all)

	little := storetest.Known(41, 2)
	little.Draft, little.Association, little.HeadRef, little.RepoID, little.Head = false, "", "", 0, "def456"
	storetest.Seen(t, s, little)
	want := storetest.Known(41, 2)
	want.Head = "def456"
	is(want)

	ready := storetest.Known(41, 3)
	ready.Draft, ready.Association = false, "OWNER"
	storetest.Seen(t, s, ready)
	is(ready)

	merged := storetest.Known(41, 4)
	merged.Open, merged.Merged, merged.Draft = false, true, false
	storetest.Seen(t, s, merged)
	is(merged)
	closed := merged
	closed.Merged, closed.HeadRef, closed.UpdatedAt = false, "", closed.UpdatedAt.Add(time.Second)
	storetest.Seen(t, s, closed)
	merged.UpdatedAt = closed.UpdatedAt
	is(merged)

	both := storetest.Known(42, 1)
	both.Merged = true
	storetest.Seen(t, s, both)
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
	s, clock := storetest.Open(t)
	look := func(limit int) []int {
		t.Helper()
		prs, err := s.PullRequests.PullsToLook(t.Context(), clock.Now(), limit)
		require.NoError(t, err)
		return numbers(prs)
	}
	for number := 41; number <= 45; number++ {
		if number != 44 {
			storetest.Seen(t, s, storetest.Known(number, 1))
		}
	}
	for _, number := range []int{41, 42, 43, 44} {
		storetest.Accept(t, s, storetest.FromPR(storetest.Granted(fmt.Sprintf("c%d", number)), number))
	}
	second := storetest.FromPR(storetest.Granted("second"), 41)
	second.Row.Profile = "other"
	storetest.Accept(t, s, second)
	gone := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("gone"), 45))
	_, err := s.Destroy(t.Context(), gone.ID, storetest.Maya("done"))
	require.NoError(t, err)

	require.Empty(t, look(10), "they were just heard of")
	clock.Pass(time.Minute)
	require.Equal(t, []int{41, 42, 43, 44}, look(10))
	require.NoError(t, s.PullRequests.Looked(t.Context(), pullrequests.PullRequest{Repo: "acme/shop", Number: 42}))
	clock.Pass(time.Minute)
	require.NoError(t, s.PullRequests.Looked(t.Context(), pullrequests.PullRequest{Repo: "acme/shop", Number: 41}))
	require.Equal(t, []int{43, 44, 42}, look(10), "the one that was looked at longest ago is the last that was")
	clock.Pass(time.Minute)
	require.Equal(t, []int{43, 44, 42, 41}, look(10))
	require.Equal(t, []int{43, 44}, look(2))
	require.Equal(t, 4, storetest.Count(t, s, `SELECT count(*) FROM looks`), "what has no cluster any more was forgotten")

	prs, err := s.PullRequests.PullsToLook(t.Context(), clock.Now(), 10)
	require.NoError(t, err)
	prs[0].HeadAt = time.Time{}
	require.Equal(t, storetest.Known(43, 1), prs[0])
	require.Equal(t, pullrequests.PullRequest{
		Installation: 5001, Repo: "acme/shop", Number: 44, Open: true, Labels: []string{}, Head: "abc123", UpdatedAt: prs[1].UpdatedAt, HeadAt: prs[1].UpdatedAt,
	}, prs[1], "one that was never seen is known by its cluster")

	require.NoError(t, s.PullRequests.Looked(t.Context(), pullrequests.PullRequest{Repo: "acme/shop", Number: 45}), "too late to matter")
	again := storetest.FromPR(storetest.Granted("again"), 45)
	again.Row.Generation = 2
	storetest.Accept(t, s, again)
	clock.Pass(time.Minute)
	require.Equal(t, []int{43, 44, 42, 41, 45}, look(10), "wanted again, looked at again")
}

func TestThePullRequestsOfAnInstallationAreFound(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	for i, repo := range []string{"acme/shop", "acme/web", "acme/docs"} {
		a := storetest.FromPR(storetest.Granted(fmt.Sprintf("c%d", i)), 41+i)
		a.Row.PR.Repo = repo
		if repo == "acme/docs" {
			a.Row.PR.Installation = 7
		}
		storetest.Accept(t, s, a)
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
	s, clock := storetest.Open(t)
	var pulls []pullrequests.PullRequest
	at := clock.Now().Add(time.Hour)
	for number := 41; number <= 44; number++ {
		pulls = append(pulls, storetest.Known(number, 1))
		row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted(fmt.Sprintf("c%d", number)), number))
		if number == 42 || number == 44 {
			require.NoError(t, s.SetEnd(t.Context(), row.ID, clusters.EndPRClosed, &at, lifecycle.Reason{}, "test"))
		}
		if number == 44 {
			_, err := s.Destroy(t.Context(), row.ID, storetest.Maya("done"))
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
