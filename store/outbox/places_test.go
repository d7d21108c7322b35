package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestALabelIsShownOnlyWhereALabelAsked(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	a := storetest.FromPR(storetest.Granted("shop"), 41)
	a.Row.Source = "pr_comment"
	subs, err := s.Outbox.Subscribers(t.Context(), storetest.Accept(t, s, a).ID)
	require.NoError(t, err)
	require.Equal(t, []string{"github_comment", "github_check", "github_deployment"}, storetest.Kinds(subs))
	subs, err = s.Outbox.Subscribers(t.Context(), storetest.Accept(t, s, storetest.Granted("none")).ID)
	require.NoError(t, err)
	require.Empty(t, subs, "it came from no pull request")
}

func TestTheHeadOfAForkGetsNoDeployment(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	pr := storetest.Known(41, 1)
	pr.Fork = true
	storetest.Seen(t, s, pr)
	subs, err := s.Outbox.Subscribers(t.Context(), storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41)).ID)
	require.NoError(t, err)
	require.Equal(t, []string{"github_comment", "github_check", "github_label"}, storetest.Kinds(subs))
	storetest.Seen(t, s, storetest.Known(42, 1))
	subs, err = s.Outbox.Subscribers(t.Context(), storetest.Accept(t, s, storetest.FromPR(storetest.Granted("other"), 42)).ID)
	require.NoError(t, err)
	require.Contains(t, storetest.Kinds(subs), "github_deployment")
}

func TestAMutedPlaceIsNeverAskedForAgain(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	comment := storetest.PlacesOf(t, s, row.ID)["github_comment"]
	for range 2 {
		require.NoError(t, s.Outbox.Mute(t.Context(), comment.ID))
	}
	require.True(t, storetest.PlacesOf(t, s, row.ID)["github_comment"].Muted)
	storetest.ShowAll(t, s, row.ID)
	require.Zero(t, storetest.Behind(t, s))
	storetest.Extended(t, s, row.ID)
	require.Equal(t, 3, storetest.Behind(t, s))
	storetest.Lose(t, s)
	clock.Pass(time.Hour)
	_, err := s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Len(t, storetest.RiverJobs(t, s, "publish"), 3)
}

func TestAPushGivesTheNewHeadACheckAndTheOldOneItsLastWord(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	gone := storetest.FromPR(storetest.Granted("gone"), 41)
	gone.Row.Profile = "other"
	unwanted := storetest.Accept(t, s, gone)
	_, err := s.Destroy(t.Context(), unwanted.ID, storetest.Maya("done"))
	require.NoError(t, err)
	storetest.ShowAll(t, s, row.ID)
	storetest.ShowAll(t, s, unwanted.ID)

	follow := func(head string) {
		t.Helper()
		for range 2 { // the second time it changes nothing
			require.NoError(t, s.Outbox.FollowHead(t.Context(), "acme/shop", 41, head))
		}
	}
	follow("abc123")
	require.Zero(t, storetest.Behind(t, s), "it is there already")

	follow("def456")
	require.Len(t, storetest.PlacesOf(t, s, unwanted.ID), 4, "of what is not wanted any more nothing follows")
	places := storetest.PlacesOf(t, s, row.ID)
	require.Len(t, places, 5)
	require.True(t, places["github_check abc123"].Left)
	require.Equal(t, int64(7), places["github_check abc123"].ExternalID, "the same check gets its last word")
	require.Equal(t, outbox.Subscriber{
		ID: places["github_check def456"].ID, Cluster: row.ID, Kind: clusters.KindCheck, Installation: 5001, Repo: "acme/shop", Number: 41, Head: "def456", WantedVersion: row.Cluster.Version + 1,
	}, places["github_check def456"])
	require.Equal(t, 5, storetest.Behind(t, s))
	// A publisher that was under way shows the version of before: that is not what is wanted now.
	require.NoError(t, s.Outbox.Shown(t.Context(), places["github_check abc123"].ID, 7, row.Cluster.Version, "as before"))
	require.Equal(t, 5, storetest.Behind(t, s))
	storetest.ShowAll(t, s, row.ID)
	require.Zero(t, storetest.Behind(t, s))

	storetest.Extended(t, s, row.ID)
	require.Equal(t, 4, storetest.Behind(t, s), "what was left has said its last word")
	storetest.ShowAll(t, s, row.ID)

	follow("abc123") // the branch was put back
	places = storetest.PlacesOf(t, s, row.ID)
	require.False(t, places["github_check abc123"].Left)
	require.True(t, places["github_check def456"].Left)
	require.Equal(t, 5, storetest.Behind(t, s))
	storetest.Lose(t, s)
	clock.Pass(time.Hour)
	_, err = s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Len(t, storetest.RiverJobs(t, s, "publish"), 5)
}
