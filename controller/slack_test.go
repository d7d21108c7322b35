package controller_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	wire "github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/notices"
)

// withSlack is a fixture that answers in the stand-in Slack, and an answer to post there.
func withSlack(t *testing.T, channel, person string) (*fixture, *slack.Server, queue.ReplyArgs) {
	h := newFixture(t)
	s, err := slack.Start(t.Context(), slack.Config{Token: "demo-token"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	h.Teller, err = wire.New(wire.Config{Token: secret.New("demo-token"), BaseURL: s.API()})
	require.NoError(t, err)
	require.NoError(t, h.store.Outbox.SaveReply(h.ctx, clusters.Reply{Cause: "slack:T1:1.2", Workspace: slack.Workspace, Channel: channel, Person: person, Body: "**done**"}))
	var id string
	require.NoError(t, h.store.Pool().QueryRow(h.ctx, `SELECT id FROM replies`).Scan(&id))
	return h, s, queue.ReplyArgs{Reply: id}
}

func (h *fixture) external(id string) int64 {
	h.t.Helper()
	r, err := h.store.Outbox.Reply(h.ctx, id)
	require.NoError(h.t, err)
	return r.ExternalID
}

func TestAnAnswerInSlackIsSaidOnceAndRemembered(t *testing.T) {
	t.Parallel()
	h, s, job := withSlack(t, slack.Clusters, "U0DEMOMAYA")
	h.work(job)
	h.work(job)
	said := s.Messages()
	require.Len(t, said, 1)
	require.Equal(t, "*done*", said[0].Text)
	require.Equal(t, said[0].ID, h.external(job.Reply), "the timestamp in microseconds")
	require.Zero(t, h.board.called(), "nobody asks GitHub")
}

func TestAnAnswerInAThreadStandsThere(t *testing.T) {
	t.Parallel()
	h, s, job := withSlack(t, slack.Clusters, "U0DEMOMAYA")
	_, err := s.Write(h.ctx, "maya", slack.Post{Channel: "clusters", Text: "a question"})
	require.NoError(t, err)
	first := s.Messages()[0]
	_, err = h.store.Pool().Exec(h.ctx, `UPDATE replies SET thread = $1::text`, fmt.Sprint(first.ID))
	require.NoError(t, err)
	h.work(job)
	said := s.Messages()[1]
	require.Equal(t, []any{slack.KindEphemeral, first.TS}, []any{said.Kind, said.Thread})
}

func TestAnAnswerInSlackWaitsForItsTime(t *testing.T) {
	t.Parallel()
	h, s, job := withSlack(t, slack.Clusters, "U0DEMOMAYA")
	s.Break("chat.postEphemeral", slack.Fault{RetryAfter: 7})
	require.Equal(t, 7*time.Second, h.snoozes(job, h.now()))
	h.pass(7 * time.Second)
	s.Break("chat.postEphemeral", slack.Fault{Code: "account_inactive", Times: 2})
	require.Equal(t, 10*time.Minute, h.snoozes(job, h.now()))
	require.GreaterOrEqual(t, h.snoozes(job, h.now()), notices.AskAgain, "nobody asks Slack before, though a solved problem is soon seen")
	h.pass(10 * time.Minute)
	require.Equal(t, time.Hour, h.snoozes(job, h.now().Add(-48*time.Hour)))
	require.Contains(t, h.log.lines(t, "update delayed")[1]["err"], "the bot's account was switched off")
	h.pass(time.Hour)
	s.Break("chat.postEphemeral", slack.Fault{Code: "internal_error"})
	require.ErrorContains(t, h.Work(h.ctx, job, h.now()), "internal_error", "it is tried again soon")
	require.Zero(t, h.external(job.Reply))
	h.pass(time.Hour)
	h.work(job)
	require.Equal(t, []string{"*done*"}, s.Seen("maya"))
	h.Teller = nil
	_, err := h.store.Pool().Exec(h.ctx, `UPDATE replies SET external_id = 0`)
	require.NoError(t, err)
	require.Equal(t, 10*time.Minute, h.snoozes(job, h.now()))
	waits := h.log.lines(t, "update delayed")
	require.Contains(t, waits[len(waits)-1]["err"], "set slack.bot_token_ref")
}

// Nobody can find an answer in Slack again: it is sent a second time, to the same person.
func TestAnAnswerInSlackThatWasLostIsSaidAgain(t *testing.T) {
	t.Parallel()
	h, s, job := withSlack(t, slack.Random, "U0DEMOMAYA")
	s.Break("chat.postMessage", slack.Fault{LoseAnswer: true})
	require.Error(t, h.Work(h.ctx, job, h.now()))
	h.pass(time.Second)
	h.work(job)
	require.Equal(t, []string{"*done*", "*done*"}, s.Seen("maya"))
	require.Equal(t, s.Messages()[1].ID, h.external(job.Reply))
}

func TestWhatCanNeverBeSaidInSlackIsGivenUpInWords(t *testing.T) {
	t.Parallel()
	h, s, job := withSlack(t, "C0GONE", "U0NOBODY")
	h.work(job)
	given := h.log.lines(t, "answer given up: this person cannot be reached in Slack")
	require.Len(t, given, 1)
	require.Contains(t, given[0]["err"], "user_not_found")
	require.EqualValues(t, -1, h.external(job.Reply))
	h.work(job)
	require.Empty(t, s.Messages())
}

func TestAnAnswerInSlackMayHaveButtonsAndKeepsNoLink(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	w, client := newWorkspace(t, h.now)
	h.Teller = client
	w.channels["D0MAYA"] = ""
	const link = "https://ui/links/abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv"
	save := func(cause, body, blocks string) queue.ReplyArgs {
		require.NoError(t, h.store.Outbox.SaveReply(h.ctx, clusters.Reply{
			Cause: cause, Workspace: slackWorkspace, Channel: "D0MAYA", Person: "U0DEMOMAYA", Body: body, Blocks: json.RawMessage(blocks),
		}))
		var id string
		require.NoError(t, h.store.Pool().QueryRow(h.ctx, `SELECT id FROM replies WHERE cause = $1`, cause).Scan(&id))
		return queue.ReplyArgs{Reply: id}
	}
	h.work(save("slack:1", "*here* <"+link+">", `[{"type":"section","text":{"type":"mrkdwn","text":"<`+link+`>"}}]`))
	require.Positive(t, h.snoozes(save("slack:2", "too soon", `[]`), h.now()), "one answer a second for each person")
	h.pass(2 * time.Second)
	h.work(save("slack:3", "*plain*", `[]`))
	require.Equal(t, []string{"*here* <" + link + ">", "*plain*"}, []string{w.messages[0].text, w.messages[1].text}, "it is in Slack's markup already")
	require.Contains(t, w.messages[0].blocks, link)
	require.NotContains(t, w.messages[1].blocks, "section")
	var kept string
	require.NoError(t, h.store.Pool().QueryRow(h.ctx, `SELECT body || blocks::text FROM replies WHERE cause = 'slack:1'`).Scan(&kept))
	require.NotContains(t, kept, "abcdefghijkl", "a posted link is forgotten")
}
