package controller_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// place returns how one of the places that show the cluster stands.
func (h *fixture) place(cluster, kind string) outbox.Subscriber {
	h.t.Helper()
	subs, err := h.store.Outbox.Subscribers(h.ctx, cluster)
	require.NoError(h.t, err)
	for _, s := range subs {
		if s.Kind == kind {
			return s
		}
	}
	require.Fail(h.t, "no such place", kind)
	return outbox.Subscriber{}
}

// publish runs the publish job of the present version at one place.
func (h *fixture) publish(cluster, kind string) outbox.Subscriber {
	h.t.Helper()
	h.work(queue.PublishArgs{Subscriber: h.place(cluster, kind).ID, Version: h.cluster(cluster).Version})
	return h.place(cluster, kind)
}

// report moves the runner's progress on and lets the controller reconcile.
func (h *fixture) report(open attempts.LaunchSpec, seq, percent int) {
	h.t.Helper()
	h.reportIn(lifecycle.Installing, open, seq, percent)
}

func (h *fixture) reportIn(phase lifecycle.Phase, open attempts.LaunchSpec, seq, percent int) {
	h.t.Helper()
	_, err := h.store.Attempts.Report(h.ctx, open.Attempt, open.Token, attempts.ReportRow{
		Seq: seq, Phase: phase, Percent: percent, Step: fmt.Sprintf("step %d", percent),
	})
	require.NoError(h.t, err)
	h.reconcile(open.Cluster)
}

// extended puts a cluster's end off by an hour, which is news, and returns the end as a comment shows it.
func (h *fixture) extended(id string) string {
	h.t.Helper()
	_, err := h.store.Extend(h.ctx, id, time.Hour, origin)
	require.NoError(h.t, err)
	h.reconcile(id)
	return h.cluster(id).DestroyAt.UTC().Format(time.RFC3339)
}

func TestOneCommentIsEditedAsTheClusterMoves(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	sub := h.publish(row.ID, clusters.KindComment)
	require.NotZero(t, sub.ExternalID)
	require.Equal(t, h.cluster(row.ID).Version, sub.ShownVersion)
	h.report(open, 1, 40)
	h.publish(row.ID, clusters.KindComment)
	require.Equal(t, 1, h.board.called(), "how far it is stands in the check")
	end := h.extended(row.ID)
	require.Equal(t, sub.ExternalID, h.publish(row.ID, clusters.KindComment).ExternalID)
	bodies := h.board.withMarker("cluster:" + row.ID)
	require.Len(t, bodies, 1)
	require.Contains(t, bodies[0], end)
	require.Equal(t, 2, h.board.called())
}

func TestACheckAndADeploymentFollowAnExtension(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{clusters.KindCheck, clusters.KindDeployment} {
		h := newFixture(t)
		row := h.scalable("shop")
		before := h.publish(row.ID, kind).ShownBody
		h.extended(row.ID)
		extended := h.publish(row.ID, kind).ShownBody
		require.NotEqual(t, before, extended, kind)
		closed := h.now().Add(time.Hour)
		require.NoError(t, h.store.SetEnd(h.ctx, row.ID, clusters.EndPRClosed, &closed, lifecycle.Reason{}, "github:maya"))
		require.Equal(t, extended, h.publish(row.ID, kind).ShownBody, "the comment tells that the pull request was closed")
	}
}

func TestNothingIsSentWhileTheTextIsTheSame(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, _ := h.installing("shop")
	h.publish(row.ID, clusters.KindComment)
	calls := h.board.called()
	h.publish(row.ID, clusters.KindComment)
	require.Equal(t, calls, h.board.called(), "shown already")
	_, err := h.store.Pool().Exec(h.ctx, `UPDATE clusters SET row_version = row_version + 1 WHERE id = $1`, row.ID)
	require.NoError(t, err)
	sub := h.publish(row.ID, clusters.KindComment)
	require.Equal(t, calls, h.board.called(), "a new version with the same words")
	require.Equal(t, h.cluster(row.ID).Version, sub.ShownVersion)
}

func TestACrashBetweenPostingAndRememberingPostsNoSecondComment(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, _ := h.installing("shop")
	first := h.publish(row.ID, clusters.KindComment).ExternalID
	_, err := h.store.Pool().Exec(h.ctx, `
		UPDATE subscribers SET external_id = 0, shown_version = 0, shown_body = '', posting_at = $2 WHERE cluster_id = $1`, row.ID, h.now())
	require.NoError(t, err)
	end := h.extended(row.ID)
	require.Equal(t, first, h.publish(row.ID, clusters.KindComment).ExternalID)
	bodies := h.board.withMarker("cluster:" + row.ID)
	require.Len(t, bodies, 1)
	require.Contains(t, bodies[0], end, "and it says what is so now")
}

func TestACheckRunThatComesAnewIsRemembered(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	h.publish(row.ID, clusters.KindCheck)
	_, err := h.store.Attempts.Result(h.ctx, open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "BadInput", Message: "no"})
	require.NoError(t, err)
	h.reconcile(row.ID)
	first := h.publish(row.ID, clusters.KindCheck).ExternalID
	require.Equal(t, check{row.ID, "abc123", "ocpctl/aws-minimal-test #41", h.board.checks[first].run}, h.board.checks[first])
	require.Equal(t, "completed", h.board.checks[first].run.Status)
	h.pass(limits.RetryBase) // the teardown begins, and a completed run is not opened again
	h.reconcile(row.ID)
	_, err = h.store.Pool().Exec(h.ctx, `UPDATE clusters SET status = 'DESTROYING', phase = 'restoring', row_version = row_version + 1 WHERE id = $1`, row.ID)
	require.NoError(t, err)
	second := h.publish(row.ID, clusters.KindCheck).ExternalID
	require.NotEqual(t, first, second)
	require.Equal(t, "in_progress", h.board.checks[second].run.Status)
	require.Equal(t, second, h.publish(row.ID, clusters.KindCheck).ExternalID)
}

func TestARateLimitIsWaitedFor(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row, open := h.installing("shop")
	job := queue.PublishArgs{Subscriber: h.place(row.ID, clusters.KindComment).ID, Version: h.cluster(row.ID).Version}
	h.board.refuses = fmt.Errorf("comment: %w", github.RateLimited{RetryAfter: 42 * time.Second})
	require.Equal(t, 42*time.Second, h.snoozes(job, h.now()))
	h.board.refuses = github.RateLimited{}
	require.Equal(t, time.Second, h.snoozes(job, h.now()), "no wait is none at all")

	h.report(open, 1, 40)
	require.NoError(t, h.Work(h.ctx, job, h.now()), "the job of the newer version waits, this one need not")
	h.board.refuses = nil
	h.publish(row.ID, clusters.KindComment)
	require.Len(t, h.board.withMarker("cluster:"+row.ID), 1)
}

func TestTextsThatAreRefusedWaitLongerEachTime(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	job := queue.PublishArgs{Subscriber: h.place(row.ID, clusters.KindComment).ID, Version: 1}
	for _, refusal := range []error{github.ErrRefused, github.ErrNotFound} {
		h.board.refuses = fmt.Errorf("comment: %w", refusal)
		require.Equal(t, 10*time.Minute, h.snoozes(job, h.now()))
		require.Equal(t, 25*time.Minute, h.snoozes(job, h.now().Add(-25*time.Minute)))
		require.Equal(t, time.Hour, h.snoozes(job, h.now().Add(-48*time.Hour)))
	}
	h.board.refuses = errAway
	require.ErrorIs(t, h.Work(h.ctx, job, h.now()), errAway, "anything else is tried again soon")
}

func TestAReplyIsPostedOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	cause := clusters.Reply{Cause: "comment:7", Installation: 5001, Repo: "acme/shop", Number: 41, Body: "pong"}
	require.NoError(t, h.store.Outbox.SaveReply(h.ctx, cause))
	var id string
	require.NoError(t, h.store.Pool().QueryRow(h.ctx, `SELECT id FROM replies`).Scan(&id))
	h.board.refuses = github.ErrRefused
	require.Equal(t, 10*time.Minute, h.snoozes(queue.ReplyArgs{Reply: id}, h.now()))
	h.board.refuses = nil
	h.work(queue.ReplyArgs{Reply: id})
	calls := h.board.called()
	h.work(queue.ReplyArgs{Reply: id})
	require.Equal(t, calls, h.board.called())
	_, err := h.store.Pool().Exec(h.ctx, `UPDATE replies SET external_id = 0`) // killed before it was remembered
	require.NoError(t, err)
	h.work(queue.ReplyArgs{Reply: id})
	require.Equal(t, []string{"pong"}, h.board.withMarker("reply:"+id))
}

func TestAPlaceAtWorkIsLookedAtAgainByTheJobThatFoundItSo(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	row := h.accept("shop")
	sub := h.place(row.ID, clusters.KindComment)
	ran, err := h.store.Alone(h.ctx, "show "+sub.ID, func(ctx context.Context) error {
		require.Equal(t, time.Second, h.snoozes(queue.PublishArgs{Subscriber: sub.ID, Version: 1}, h.now()), "an older job at work may leave a wait to this one")
		return nil
	})
	require.NoError(t, err)
	require.True(t, ran)
	require.Zero(t, h.board.called())
	require.NoError(t, h.Work(h.ctx, queue.PublishArgs{Subscriber: "sub_none", Version: 1}, h.now()))
}
