package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// inChannel has a cluster shown in a channel of Slack.
func inChannel(a store.Judgement) store.Judgement {
	a.Row.Source, a.Row.RequestedBy = "slack", "slack:T1/U1"
	a.Show = &clusters.SlackPlace{Workspace: "T1", Channel: "C1", Person: "U1"}
	return a
}

func TestAClusterAskedForInSlackHasAMessageAndAThreadThere(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, inChannel(storetest.Granted("shop")))
	places := storetest.PlacesOf(t, s, row.ID)
	require.Len(t, places, 2)
	require.Contains(t, places, clusters.KindSlackMessage)
	require.Contains(t, places, clusters.KindSlackThread)
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM river_job WHERE kind = 'publish'`))
	require.Equal(t, 2, storetest.Count(t, s, `SELECT count(*) FROM subscribers WHERE workspace = 'T1' AND channel = 'C1' AND person = 'U1' AND repo = ''`))

	again, err := storetest.Judge(s, storetest.Keyed(storetest.Requests(inChannel(storetest.Granted("vault"))), "slack:T1:1"), inChannel(storetest.Granted("vault")))
	require.NoError(t, err)
	same, err := storetest.Judge(s, storetest.Keyed(storetest.Requests(inChannel(storetest.Granted("vault"))), "slack:T1:1"), inChannel(storetest.Granted("vault")))
	require.NoError(t, err)
	require.Equal(t, again.ID, same.ID)
	require.Len(t, storetest.PlacesOf(t, s, again.ID), 2, "the request that came again added nothing")
}

func TestAMessageThatWasDeletedIsPostedAgainOnlyAtItsPlace(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, inChannel(storetest.Granted("shop")))
	storetest.ShowAll(t, s, row.ID)
	again := func(workspace, channel string) bool {
		t.Helper()
		shown, err := s.Outbox.ShowAgain(t.Context(), row.ID, workspace, channel)
		require.NoError(t, err)
		return shown
	}
	require.False(t, again("T1", "C1"), "it stands")
	require.NoError(t, s.Outbox.Mute(t.Context(), storetest.PlacesOf(t, s, row.ID)[clusters.KindSlackMessage].ID))
	require.NoError(t, s.Outbox.Mute(t.Context(), storetest.PlacesOf(t, s, row.ID)[clusters.KindSlackThread].ID))
	require.False(t, again("T1", "C2"), "in another channel")
	require.False(t, again("T2", "C1"), "in another workspace")
	require.Zero(t, storetest.Behind(t, s))
	require.True(t, again("T1", "C1"))
	require.Equal(t, 2, storetest.Behind(t, s), "the message and its thread")
	for kind, place := range storetest.PlacesOf(t, s, row.ID) {
		require.False(t, place.Muted, kind)
		require.Zero(t, place.ExternalID, "it is a new message: "+kind)
	}
	require.False(t, again("T1", "C1"), "it was asked for already")
}

// Whose a cluster is follows the last handover that was accepted, and before that the request; an owner's name counts besides.
func TestTheClustersOfAPersonFollowRequestsHandoversAndNames(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	first := storetest.Accept(t, s, inChannel(storetest.Granted("shop")))
	storetest.Accept(t, s, inChannel(storetest.Granted("vault")))
	mine := func(principal, name string) (names []string) {
		t.Helper()
		page, _, err := s.List(t.Context(), store.Filter{Query: filter.Mine(filter.Reader{Principal: principal, Name: name})})
		require.NoError(t, err)
		for _, row := range page {
			names = append(names, row.Name)
		}
		slices.Sort(names)
		return names
	}
	require.Equal(t, []string{"shop", "vault"}, mine("slack:T1/U1", "U1 (Slack)"))
	require.Empty(t, mine("slack:T2/U1", "U1 (Slack)"), "the same id in another workspace is somebody else")
	require.Equal(t, []string{"shop", "vault"}, mine("saml:maya", "maya"), "as their owner")

	clock.Pass(time.Minute)
	h := storetest.Offers(t, s, first, "slack:T1:2")
	require.Equal(t, []string{"shop", "vault"}, mine("slack:T1/U1", "U1 (Slack)"), "an offer changes nothing")
	require.NoError(t, s.AcceptHandover(t.Context(), h, first.Team, "will", storetest.Will(""), nil))
	require.Equal(t, []string{"vault"}, mine("slack:T1/U1", "U1 (Slack)"))
	require.Equal(t, []string{"shop"}, mine("slack:T1/U2", "U2 (Slack)"))
	require.Equal(t, []string{"vault"}, mine("saml:maya", "maya"))
}

func TestWhenAKubeconfigWasLastHandedOutIsKnownOfEachCluster(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	read, unread := storetest.Accept(t, s, storetest.Granted("shop")), storetest.Accept(t, s, storetest.Granted("vault"))
	for range 2 {
		clock.Pass(time.Hour)
		require.NoError(t, s.Audit(t.Context(), storetest.Maya("to look"), "kubeconfig.read", read.ID, map[string]string{"why": "to look"}))
	}
	require.NoError(t, s.Audit(t.Context(), storetest.Maya("to look"), "outputs.read", unread.ID, map[string]string{"why": "to look"}))
	last, err := s.KubeconfigsRead(t.Context(), []string{read.ID, unread.ID, "clu_nothing"})
	require.NoError(t, err)
	require.Len(t, last, 1)
	require.WithinDuration(t, clock.Now(), last[read.ID], time.Second)
	none, err := s.KubeconfigsRead(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
}
