package controller_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/notices"
	"github.com/ocpctl/ocpctl/store/reports"
)

// inChannel is a fixture with a workspace, in whose channel somebody asked for a cluster.
func inChannel(t testing.TB) (*fixture, *workspace, clusters.Row) {
	t.Helper()
	h := newFixture(t)
	w, client := newWorkspace(t, h.now)
	h.Teller = client
	return h, w, h.askedInSlack("shop", slackChannel)
}

func (h *fixture) askedInSlack(name, channel string) clusters.Row {
	h.t.Helper()
	return h.acceptAs(name, func(j *store.Judgement) {
		j.Show = &clusters.SlackPlace{Workspace: slackWorkspace, Channel: channel, Person: "U0DEMOMAYA"}
	})
}

func (h *fixture) publishArgs(cluster, kind string) queue.PublishArgs {
	return queue.PublishArgs{Subscriber: h.place(cluster, kind).ID, Version: h.cluster(cluster).Version}
}

// showInSlack shows a cluster at its place as a worker does, and passes the time that its job wants to wait.
func (h *fixture) showInSlack(cluster, kind string) {
	h.t.Helper()
	args, since := h.publishArgs(cluster, kind), h.now()
	for range 200 {
		err := h.Work(h.ctx, args, since)
		var snooze *river.JobSnoozeError
		if !errors.As(err, &snooze) {
			require.NoError(h.t, err)
			return
		}
		h.pass(snooze.Duration)
	}
	h.t.Fatal("it is never shown")
}

// moved brings the cluster to its next version, with a move of its phase.
func (h *fixture) moved(open attempts.LaunchSpec, seq int, phase lifecycle.Phase, percent int) {
	h.t.Helper()
	_, err := h.store.Attempts.Report(h.ctx, open.Attempt, open.Token, attempts.ReportRow{Seq: seq, Phase: phase, Percent: percent})
	require.NoError(h.t, err)
	h.reconcile(open.Cluster)
}

func TestAClusterHasOneMessageInSlackThatIsUpdatedInPlace(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	first := w.standing(false)
	require.Len(t, first, 1)
	require.Equal(t, h.place(row.ID, clusters.KindSlackMessage).ID, first[0].marker)
	_, open := h.install(row)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	require.Zero(t, w.standing(false)[0].edits, "it said already that the cluster is being created")
	h.pass(6 * time.Minute)
	h.moved(open, 1, lifecycle.Configuring, 90)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	now := w.standing(false)
	require.Len(t, now, 1)
	require.Equal(t, first[0].ts, now[0].ts)
	require.Equal(t, 1, now[0].edits)
	require.Zero(t, w.storms)

	calls := w.called()
	_, err := h.store.Pool().Exec(h.ctx, `UPDATE clusters SET row_version = row_version + 1 WHERE id = $1`, row.ID)
	require.NoError(t, err)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	require.Equal(t, calls, w.called(), "a version that looks alike costs no call")
	require.Equal(t, h.cluster(row.ID).Version, h.place(row.ID, clusters.KindSlackMessage).ShownVersion)
}

func TestTheThreadTellsEachEventOnceAndAfterTheMessage(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	thread := h.publishArgs(row.ID, clusters.KindSlackThread)
	require.Equal(t, 30*time.Second, h.snoozes(thread, h.now()), "there is no message yet to stand below")
	require.Zero(t, w.called())
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	h.pass(time.Second)
	_, open := h.install(row)
	h.showInSlack(row.ID, clusters.KindSlackThread)
	told := w.standing(true)
	require.Len(t, told, 1)
	require.Equal(t, w.standing(false)[0].ts, told[0].thread)

	h.pass(time.Second)
	h.moved(open, 1, lifecycle.Configuring, 20)
	wait := h.snoozes(h.publishArgs(row.ID, clusters.KindSlackThread), h.now())
	require.Greater(t, wait, 50*time.Second, "moves are told in batches")
	h.pass(wait)
	h.showInSlack(row.ID, clusters.KindSlackThread)
	require.Len(t, w.standing(true), 2)
	calls := w.called()
	_, err := h.store.Pool().Exec(h.ctx, `UPDATE clusters SET row_version = row_version + 1 WHERE id = $1`, row.ID)
	require.NoError(t, err)
	h.showInSlack(row.ID, clusters.KindSlackThread)
	require.Equal(t, calls, w.called(), "nothing happened since")
	require.Zero(t, w.storms)
}

func TestTheEditThatAPersonWaitsForIsShownWithinASecond(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	h.pass(time.Second)
	h.install(row)
	h.pass(time.Second)
	other := h.askedInSlack("cart", slackChannel)
	h.work(h.publishArgs(other.ID, clusters.KindSlackMessage)) // takes the channel's turn
	pressed := h.now().Add(100 * time.Millisecond)
	h.pass(100 * time.Millisecond)
	_, err := h.store.Extend(h.ctx, row.ID, time.Hour, clusters.Origin{Actor: "slack:T1/U2", Source: "slack"})
	require.NoError(t, err)
	h.snoozes(h.publishArgs(row.ID, clusters.KindSlackThread), h.now())
	h.work(h.publishArgs(row.ID, clusters.KindSlackMessage)) // in one piece: a job that River wakes would come later
	require.Equal(t, 1, w.standing(false)[0].edits, "while it is being created, too")
	require.LessOrEqual(t, h.now().Sub(pressed), time.Second)
	require.Zero(t, w.storms)
	h.showInSlack(row.ID, clusters.KindSlackThread)
	require.Len(t, w.standing(true), 1, "its thread follows")
	require.Zero(t, w.storms)

	h.pass(5 * time.Minute)
	_, err = h.store.Extend(h.ctx, row.ID, time.Hour, clusters.Origin{Actor: "slack:T1/U2", Source: "slack"})
	require.NoError(t, err)
	calls := w.called()
	h.snoozes(h.publishArgs(row.ID, clusters.KindSlackThread), h.now())
	require.Equal(t, calls, w.called(), "the thread leaves a free turn to the message, too")
	h.work(h.publishArgs(row.ID, clusters.KindSlackMessage))
	h.showInSlack(row.ID, clusters.KindSlackThread)
	require.Equal(t, calls+2, w.called())
}

func TestAClusterWhoseTurnComesIsShownAsBeingCreatedAtOnce(t *testing.T) {
	t.Parallel()
	h, w, _ := inChannel(t)
	row := h.acceptAs("cart", func(j *store.Judgement) {
		j.Show = &clusters.SlackPlace{Workspace: slackWorkspace, Channel: slackChannel, Person: "U0DEMOMAYA"}
		j.Row.NeedsTurn = true
	})
	h.reconcile(row.ID)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	require.Contains(t, w.standing(false)[0].text, "waiting in the queue")
	_, err := h.store.Pool().Exec(h.ctx, `UPDATE clusters SET needs_turn = false WHERE id = $1`, row.ID)
	require.NoError(t, err)
	h.install(row)
	came := h.now()
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	require.Contains(t, w.standing(false)[0].text, "is being created")
	require.Less(t, h.now().Sub(came), 5*time.Second, "the waits between tries vary")
}

func TestAPostWhoseAnswerWasLostStandsOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{clusters.KindSlackMessage, clusters.KindSlackThread} {
		h, w, row := inChannel(t)
		if kind == clusters.KindSlackThread {
			h.showInSlack(row.ID, clusters.KindSlackMessage)
			h.pass(2 * time.Second)
			h.install(row)
		}
		w.fail("chat.postMessage", slackFault{lose: true})
		require.Error(t, h.Work(h.ctx, h.publishArgs(row.ID, kind), h.now()))
		require.Zero(t, h.place(row.ID, kind).ExternalID, "it is not known whether it stands there")
		h.pass(2 * time.Minute)
		h.showInSlack(row.ID, kind)
		standing := w.standing(kind == clusters.KindSlackThread)
		require.Len(t, standing, 1, kind)
		require.Equal(t, 1, standing[0].edits, "it was brought up to date")
		require.NotZero(t, h.place(row.ID, kind).ExternalID)
	}
}

func TestAServerThatDiedBetweenPostAndRecordLeavesOneMessage(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	_, err := h.store.Pool().Exec(h.ctx, `
		UPDATE subscribers SET external_id = 0, shown_version = 0, shown_body = '', posting_at = $1 WHERE kind = 'slack_message'`, h.now())
	require.NoError(t, err)
	h.pass(time.Minute)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	require.Len(t, w.standing(false), 1)
}

func TestWithoutTheScopeToReadTheChannelALostMessageIsPostedAgain(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	w.noScope = "conversations.history"
	w.fail("chat.postMessage", slackFault{lose: true})
	require.Error(t, h.Work(h.ctx, h.publishArgs(row.ID, clusters.KindSlackMessage), h.now()))
	h.pass(time.Minute)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	require.Len(t, w.standing(false), 2)
}

func TestARefusedPostIsNotLookedFor(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	w.fail("chat.postMessage", slackFault{retryAfter: 7})
	require.Equal(t, 7*time.Second, h.snoozes(h.publishArgs(row.ID, clusters.KindSlackMessage), h.now()))
	other := h.askedInSlack("cart", slackChannel)
	require.GreaterOrEqual(t, h.snoozes(h.publishArgs(other.ID, clusters.KindSlackMessage), h.now()), 7*time.Second, "the whole workspace is held")
	h.pass(7 * time.Second)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	require.Len(t, w.standing(false), 1)
	require.Zero(t, w.calls["conversations.history"])
}

func TestAMessageThatSomebodyDeletedStaysDeleted(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	_, open := h.install(row)
	h.pass(6 * time.Minute)
	h.moved(open, 1, lifecycle.Configuring, 90)
	w.set(func() { w.messages[0].deleted = true })
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	h.work(h.publishArgs(row.ID, clusters.KindSlackThread))
	require.Empty(t, append(w.standing(false), w.standing(true)...))
	require.True(t, h.place(row.ID, clusters.KindSlackMessage).Muted)
	require.True(t, h.place(row.ID, clusters.KindSlackThread).Muted)
	require.Len(t, h.log.lines(t, "not posted again: somebody deleted it"), 1)
}

func TestAThreadWhoseMessageIsGoneEndsQuietly(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	h.pass(time.Minute)
	h.install(row)
	w.set(func() { w.messages[0].deleted = true })
	err := h.Work(h.ctx, h.publishArgs(row.ID, clusters.KindSlackThread), h.now())
	require.NoError(t, err)
	require.True(t, h.place(row.ID, clusters.KindSlackThread).Muted)
}

func TestAnArchivedChannelIsTriedOnceForEachWaitAndHealsByItself(t *testing.T) {
	t.Parallel()
	for _, trouble := range []struct {
		code string
		fail func(*workspace)
		heal func(*workspace)
	}{
		{"is_archived", func(w *workspace) { w.channels[slackChannel] = "is_archived" }, func(w *workspace) { w.channels[slackChannel] = "" }},
		{"not_in_channel", func(w *workspace) { w.channels[slackChannel] = "not_in_channel" }, func(w *workspace) { w.channels[slackChannel] = "" }},
		{"channel_not_found", func(w *workspace) { delete(w.channels, slackChannel) }, func(w *workspace) { w.channels[slackChannel] = "" }},
		{"missing_scope", func(w *workspace) { w.noScope = "chat.postMessage" }, func(w *workspace) { w.noScope = "" }},
		{"token_revoked", func(w *workspace) { w.token = "another" }, func(w *workspace) { w.token = slackToken }},
	} {
		h, w, row := inChannel(t)
		rows := []clusters.Row{row}
		for n := range 4 {
			rows = append(rows, h.askedInSlack(fmt.Sprintf("cart%d", n), slackChannel))
		}
		w.set(func() { trouble.fail(w) })
		for range 3 * 30 { // three hours, every two minutes all of them try
			for _, r := range rows {
				h.snoozes(h.publishArgs(r.ID, clusters.KindSlackMessage), h.now())
			}
			h.pass(2 * time.Minute)
		}
		require.LessOrEqual(t, w.called(), 8, "%s: no storm", trouble.code)
		require.GreaterOrEqual(t, w.called(), 4, "%s: it is still tried", trouble.code)
		found, err := h.store.Reports.SlackFindings(h.ctx)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Contains(t, found[0].Evidence[0], trouble.code)

		h.work(queue.FindingsArgs{})
		open, err := h.store.Reports.Findings(h.ctx, reports.FindingFilter{Kind: found[0].Kind})
		require.NoError(t, err)
		require.Len(t, open, 1)

		w.set(func() { trouble.heal(w) })
		h.pass(time.Hour)
		for _, r := range rows {
			h.showInSlack(r.ID, clusters.KindSlackMessage)
			h.pass(time.Second)
		}
		require.Len(t, w.standing(false), len(rows), trouble.code)
		found, err = h.store.Reports.SlackFindings(h.ctx)
		require.NoError(t, err)
		require.Empty(t, found, trouble.code)
		h.work(queue.FindingsArgs{})
		open, err = h.store.Reports.Findings(h.ctx, reports.FindingFilter{Kind: open[0].Kind})
		require.NoError(t, err)
		require.Empty(t, open, "%s: nobody had to close it", trouble.code)
		require.Zero(t, w.storms)
	}
}

func TestWhatWaitsForAChannelIsBroughtForwardWhenItIsSolved(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	w.set(func() { w.channels[slackChannel] = "is_archived" })
	require.Equal(t, notices.AskAgain, h.snoozes(h.publishArgs(row.ID, clusters.KindSlackMessage), h.now()))
	_, err := h.store.Pool().Exec(h.ctx, `UPDATE river_job SET state = 'scheduled', scheduled_at = now() + interval '1 hour' WHERE kind = 'publish'`)
	require.NoError(t, err)
	require.NoError(t, h.store.Notices.ChannelProblem(h.ctx, slackWorkspace, slackChannel, "")) // it was unarchived
	var ready int
	require.NoError(t, h.store.Pool().QueryRow(h.ctx, `SELECT count(*) FROM river_job WHERE kind = 'publish' AND state = 'available'`).Scan(&ready))
	require.Equal(t, 2, ready, "the message and its thread")
	w.set(func() { w.channels[slackChannel] = "" })
	h.pass(time.Second)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	require.Len(t, w.standing(false), 1)
}

func TestATokenThatIsAcceptedAgainIsNoticedInAClosedChannelToo(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	other := h.askedInSlack("cart", "C0DEMOPAYM")
	w.set(func() { w.token, w.channels[slackChannel], w.channels["C0DEMOPAYM"] = "another", "is_archived", "" })
	h.snoozes(h.publishArgs(row.ID, clusters.KindSlackMessage), h.now())
	require.GreaterOrEqual(t, h.snoozes(h.publishArgs(other.ID, clusters.KindSlackMessage), h.now()), notices.AskAgain)
	w.set(func() { w.token = slackToken })
	h.pass(10 * time.Minute)
	h.snoozes(h.publishArgs(row.ID, clusters.KindSlackMessage), h.now()) // the one try goes to the closed channel
	h.pass(time.Second)
	h.showInSlack(other.ID, clusters.KindSlackMessage)
	require.Len(t, w.standing(false), 1, "the other channel does not wait for that one")
}

func TestTheFirstMessageWakesItsThread(t *testing.T) {
	t.Parallel()
	h, _, row := inChannel(t)
	_, err := h.store.Pool().Exec(h.ctx, `UPDATE river_job SET state = 'scheduled', scheduled_at = now() + interval '1 hour' WHERE kind = 'publish'`)
	require.NoError(t, err)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	var awake []string
	require.NoError(t, h.store.Pool().QueryRow(h.ctx, `SELECT array_agg(args ->> 'subscriber') FROM river_job WHERE kind = 'publish' AND state = 'available'`).Scan(&awake))
	require.Equal(t, []string{h.place(row.ID, clusters.KindSlackThread).ID}, awake)
}

func TestAfterAThousandChangesInAMinuteTheLastStateIsShownWithFewEdits(t *testing.T) {
	t.Parallel()
	h, w, row := inChannel(t)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	h.pass(time.Minute)
	_, open := h.install(row)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	before, edits := h.now(), w.called()
	due := map[string]time.Time{} // when the job of each kind runs next
	for n := range 1000 {
		_, err := h.store.Attempts.Report(h.ctx, open.Attempt, open.Token, attempts.ReportRow{Seq: n + 1, Phase: lifecycle.Installing, Percent: n / 10})
		require.NoError(t, err)
		h.reconcile(row.ID)
		h.pass(60 * time.Millisecond)
		for _, kind := range []string{clusters.KindSlackMessage, clusters.KindSlackThread} {
			if h.now().Before(due[kind]) {
				continue
			}
			err := h.Work(context.Background(), h.publishArgs(row.ID, kind), before)
			var snooze *river.JobSnoozeError
			if errors.As(err, &snooze) {
				due[kind] = h.now().Add(snooze.Duration)
				continue
			}
			require.NoError(t, err)
		}
	}
	require.LessOrEqual(t, w.called()-edits, 6)
	_, err := h.store.Attempts.Result(h.ctx, open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "InstallFailed", Message: "no quota"})
	require.NoError(t, err)
	h.reconcile(row.ID)
	h.pass(time.Minute)
	h.showInSlack(row.ID, clusters.KindSlackMessage)
	h.pass(time.Minute)
	h.showInSlack(row.ID, clusters.KindSlackThread)
	require.Zero(t, w.storms, "Slack never had to say that it is too much")
	require.Len(t, w.standing(false), 1)
	require.Equal(t, h.cluster(row.ID).Version, h.place(row.ID, clusters.KindSlackMessage).ShownVersion)
	require.Equal(t, h.cluster(row.ID).Version, h.place(row.ID, clusters.KindSlackThread).ShownVersion)
	t.Logf("1,000 changes in %s: %d calls", h.now().Sub(before), w.called()-edits)
}
