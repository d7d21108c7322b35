package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAnAnswerGoesToSlackOrToGitHub(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	inSlack := clusters.Reply{Cause: "slack:1.2", Workspace: "T1", Channel: "C1", Person: "U1", Body: "done"}
	onGitHub := clusters.Reply{Cause: "comment:1", Installation: 5001, Repo: "acme/shop", Number: 41, Body: "done"}
	for _, r := range []clusters.Reply{inSlack, onGitHub} {
		require.NoError(t, s.Outbox.SaveReply(t.Context(), r))
		again := r
		again.Body = "something else"
		require.NoError(t, s.Outbox.SaveReply(t.Context(), again), "the first words stand")
	}
	for _, want := range []clusters.Reply{inSlack, onGitHub} {
		var id string
		require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT id FROM replies WHERE cause = $1`, want.Cause).Scan(&id))
		got, err := s.Outbox.Reply(t.Context(), id)
		require.NoError(t, err)
		want.ID = id
		require.Equal(t, want, got)
	}
	storetest.Refuses(t, s, "replies_one_place", `UPDATE replies SET repo = 'acme/shop', installation = 1, number = 1 WHERE workspace = 'T1'`)
	storetest.Refuses(t, s, "replies_one_place", `UPDATE replies SET channel = NULL WHERE workspace = 'T1'`)
	storetest.Refuses(t, s, "replies_one_place", `UPDATE replies SET repo = NULL WHERE repo IS NOT NULL`)
	storetest.Refuses(t, s, "replies_person_check", `UPDATE replies SET person = '' WHERE workspace = 'T1'`)
}

func TestAnAnswerThatWasGivenUpIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	require.NoError(t, s.Outbox.SaveReply(t.Context(), clusters.Reply{Cause: "slack:1.2", Workspace: "T1", Channel: "C1", Person: "U1", Body: "done"}))
	var id string
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT id FROM replies`).Scan(&id))
	require.NoError(t, s.Outbox.GiveUpReply(t.Context(), id))
	require.NoError(t, s.Outbox.GiveUpReply(t.Context(), id))
	clock.Pass(time.Hour)
	storetest.Lose(t, s)
	_, err := s.WakeDue(t.Context(), 100)
	require.NoError(t, err)
	require.Empty(t, storetest.RiverJobs(t, s, "reply"))
	answered, err := s.Outbox.Answered(t.Context(), "slack:1.2")
	require.NoError(t, err)
	require.True(t, answered, "it was done all the same")
}

func TestALinkInAnAnswerIsForgottenOnceItIsPosted(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	handle, _, err := s.People.NewLink(t.Context(), people.Link{Kind: people.LinkOfAccount, Account: "github:maya", Number: "7"}, time.Hour, clusters.Origin{Actor: "github:maya", Source: "pr_comment"})
	require.NoError(t, err)
	body := "@maya, open https://ocpctl.test/links/" + handle + " and sign in."
	require.NoError(t, s.Outbox.SaveReply(t.Context(), clusters.Reply{Cause: "comment:1", Installation: 5001, Repo: "acme/shop", Number: 41, Body: body}))
	var id string
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT id FROM replies`).Scan(&id))
	said, err := s.Outbox.Reply(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, body, said.Body, "it is still to be posted")
	require.NoError(t, s.Outbox.Replied(t.Context(), id, 9))
	said, err = s.Outbox.Reply(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "@maya, open https://ocpctl.test/links/… and sign in.", said.Body)
}
