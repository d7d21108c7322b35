package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

func kinds(subs []outbox.Subscriber) (kinds []string) {
	for _, sub := range subs {
		kinds = append(kinds, sub.Kind)
	}
	return kinds
}

// placesOf are the places of a cluster by kind; checks by their head too.
func placesOf(t testing.TB, s *store.Store, cluster string) map[string]outbox.Subscriber {
	t.Helper()
	subs, err := s.Outbox.Subscribers(context.Background(), cluster)
	require.NoError(t, err)
	places := map[string]outbox.Subscriber{}
	for _, sub := range subs {
		key := sub.Kind
		if sub.Kind == clusters.KindCheck {
			key += " " + sub.Head
		}
		require.NotContains(t, places, key)
		places[key] = sub
	}
	return places
}

// showAll has every place that is asked for show its cluster's present version, as the publisher does.
func showAll(t testing.TB, s *store.Store, cluster string) {
	t.Helper()
	row, err := s.Cluster(context.Background(), cluster)
	require.NoError(t, err)
	for _, sub := range placesOf(t, s, cluster) {
		if !sub.Muted {
			require.NoError(t, s.Outbox.Shown(context.Background(), sub.ID, 7, row.Cluster.Version, "hash"))
		}
	}
}

// behind is how many places are due, however long one waits.
func behind(t testing.TB, s *store.Store) int {
	t.Helper()
	return count(t, s, `SELECT count(*) FROM subscribers WHERE shown_version < wanted_version AND NOT muted`)
}

func TestALabelIsShownOnlyWhereALabelAsked(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	a := fromPR(granted("shop"), 41)
	a.Row.Source = "pr_comment"
	subs, err := s.Outbox.Subscribers(t.Context(), accept(t, s, a).ID)
	require.NoError(t, err)
	require.Equal(t, []string{"github_comment", "github_check", "github_deployment"}, kinds(subs))
	subs, err = s.Outbox.Subscribers(t.Context(), accept(t, s, granted("none")).ID)
	require.NoError(t, err)
	require.Empty(t, subs, "it came from no pull request")
}

func TestTheHeadOfAForkGetsNoDeployment(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	pr := known(41, 1)
	pr.Fork = true
	seen(t, s, pr)
	subs, err := s.Outbox.Subscribers(t.Context(), accept(t, s, fromPR(granted("shop"), 41)).ID)
	require.NoError(t, err)
	require.Equal(t, []string{"github_comment", "github_check", "github_label"}, kinds(subs))
	seen(t, s, known(42, 1))
	subs, err = s.Outbox.Subscribers(t.Context(), accept(t, s, fromPR(granted("other"), 42)).ID)
	require.NoError(t, err)
	require.Contains(t, kinds(subs), "github_deployment")
}

func TestAMutedPlaceIsNeverAskedForAgain(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := accept(t, s, fromPR(granted("shop"), 41))
	comment := placesOf(t, s, row.ID)["github_comment"]
	for range 2 {
		require.NoError(t, s.Outbox.Mute(t.Context(), comment.ID))
	}
	require.True(t, placesOf(t, s, row.ID)["github_comment"].Muted)
	showAll(t, s, row.ID)
	require.Zero(t, behind(t, s))
	extended(t, s, row.ID)
	require.Equal(t, 3, behind(t, s))
	lose(t, s)
	clock.pass(time.Hour)
	_, err := s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Len(t, riverJobs(t, s, "publish"), 3)
}

func TestAPushGivesTheNewHeadACheckAndTheOldOneItsLastWord(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := accept(t, s, fromPR(granted("shop"), 41))
	gone := fromPR(granted("gone"), 41)
	gone.Row.Profile = "other"
	unwanted := accept(t, s, gone)
	_, err := s.Destroy(t.Context(), unwanted.ID, maya("done"))
	require.NoError(t, err)
	showAll(t, s, row.ID)
	showAll(t, s, unwanted.ID)

	follow := func(head string) {
		t.Helper()
		for range 2 { // the second time it changes nothing
			require.NoError(t, s.Outbox.FollowHead(t.Context(), "acme/shop", 41, head))
		}
	}
	follow("abc123")
	require.Zero(t, behind(t, s), "it is there already")

	follow("def456")
	require.Len(t, placesOf(t, s, unwanted.ID), 4, "of what is not wanted any more nothing follows")
	places := placesOf(t, s, row.ID)
	require.Len(t, places, 5)
	require.True(t, places["github_check abc123"].Left)
	require.Equal(t, int64(7), places["github_check abc123"].ExternalID, "the same check gets its last word")
	require.Equal(t, outbox.Subscriber{
		ID: places["github_check def456"].ID, Cluster: row.ID, Kind: clusters.KindCheck, Installation: 5001, Repo: "acme/shop", Number: 41, Head: "def456",
	}, places["github_check def456"])
	require.Equal(t, 5, behind(t, s))
	// A publisher that was under way shows the version of before: that is not what is wanted now.
	require.NoError(t, s.Outbox.Shown(t.Context(), places["github_check abc123"].ID, 7, row.Cluster.Version, "as before"))
	require.Equal(t, 5, behind(t, s))
	showAll(t, s, row.ID)
	require.Zero(t, behind(t, s))

	extended(t, s, row.ID)
	require.Equal(t, 4, behind(t, s), "what was left has said its last word")
	showAll(t, s, row.ID)

	follow("abc123") // the branch was put back
	places = placesOf(t, s, row.ID)
	require.False(t, places["github_check abc123"].Left)
	require.True(t, places["github_check def456"].Left)
	require.Equal(t, 5, behind(t, s))
	lose(t, s)
	clock.pass(time.Hour)
	_, err = s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Len(t, riverJobs(t, s, "publish"), 5)
}
