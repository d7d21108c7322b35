package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/notices"
)

type publishWorker struct {
	river.WorkerDefaults[queue.PublishArgs]
	c *Controller
}

// Work updates one subscriber, or all of a cluster, to the cluster's current state. If the text has to wait, the job of the newest version waits, and older
// jobs leave it to that one.
func (w *publishWorker) Work(ctx context.Context, job *river.Job[queue.PublishArgs]) error {
	if job.Args.Cluster != "" {
		return w.c.catchUpAll(ctx, job.Args.Cluster)
	}
	newest, err := w.c.catchUp(ctx, job.Args.Subscriber)
	var turn later
	if errors.As(err, &turn) && turn.kept && turn.wait <= nearTurn && w.c.Wait(ctx, turn.wait) { // a snoozed job would come after its turn
		newest, err = w.c.catchUp(ctx, job.Args.Subscriber)
	}
	wait, paused := w.c.pause(err, job.CreatedAt)
	switch {
	case !paused:
		return err
	case newest > job.Args.Version:
		return nil
	case errors.Is(err, slack.ErrChannel): // its problem is recorded, so nobody asks Slack before it is time to
		wait = min(wait, notices.AskAgain)
	}
	w.c.logWait(ctx, err, wait, "subscriber", job.Args.Subscriber, "effect", "publish")
	return river.JobSnooze(wait)
}

type replyWorker struct {
	river.WorkerDefaults[queue.ReplyArgs]
	c *Controller
}

// Work posts one answer where the request was made.
func (w *replyWorker) Work(ctx context.Context, job *river.Job[queue.ReplyArgs]) error {
	reply, err := w.c.Store.Outbox.Reply(ctx, job.Args.Reply)
	if err != nil || reply.ExternalID != 0 {
		return err
	}
	post := w.c.onGitHub
	if reply.Workspace != "" {
		post = w.c.inSlack
	}
	err = post(ctx, reply)
	if errors.Is(err, github.ErrLocked) && w.c.Now().Sub(job.CreatedAt) >= lockedFor {
		w.c.Log.WarnContext(ctx, "answer given up: the conversation is locked", "effect", "reply", "reply", reply.ID, "repo", reply.Repo, "number", reply.Number)
		return w.c.Store.Outbox.GiveUpReply(ctx, reply.ID)
	}
	if wait, paused := w.c.pause(err, job.CreatedAt); paused {
		w.c.logWait(ctx, err, wait, "effect", "reply")
		return river.JobSnooze(wait)
	}
	if err != nil {
		return fmt.Errorf("post reply %s: %w", reply.ID, err)
	}
	return nil
}

// lockedFor is how long an answer waits for a locked conversation. Later it would be news to nobody.
const lockedFor = time.Hour

// onGitHub posts an answer on a pull request. Its marker prevents a second post after a crash between posting and storing the id.
func (c *Controller) onGitHub(ctx context.Context, r clusters.Reply) error {
	if err := c.paceWrite(ctx, r.Installation, false); err != nil {
		return err
	}
	if r.Thread != "" {
		held, err := c.Store.Outbox.IsThreadHeld(ctx, r.Thread)
		if held {
			err = later{wait: time.Second}
		}
		if err != nil {
			return err
		}
		return c.inThread(ctx, r.Thread)
	}
	id, err := c.answer(ctx, r, 0, "reply:"+r.ID, r.Body)
	if err != nil {
		return err
	}
	return c.Store.Outbox.Replied(ctx, r.ID, id)
}

// inThread posts what was answered so far to one comment, one job at a time.
func (c *Controller) inThread(ctx context.Context, thread string) error {
	alone, err := c.Store.Alone(ctx, "answer "+thread, func(ctx context.Context) error {
		all, err := c.Store.Outbox.Thread(ctx, thread)
		if err != nil || len(all) == 0 {
			return err
		}
		together, external := gatherAnswers(all)
		marker := "answers:" + thread
		if len(together) > 0 && together[0].ID != all[0].ID {
			marker += ":" + together[0].ID
		}
		return c.postAnswers(ctx, together, external, marker)
	})
	if err == nil && !alone { // it may have looked before this reply existed
		return later{wait: time.Second}
	}
	return err
}

// gatherAnswers returns the answers of a thread that stand in its newest comment, with those that wait, and that comment's id. Zero: those that
// wait get a comment of their own, because there is none yet, or an edit would remove a link from it, or readers would not see the edit.
func gatherAnswers(all []clusters.Reply) (together []clusters.Reply, external int64) {
	for _, r := range all {
		external = max(external, r.ExternalID) // a reply that was given up has no comment
	}
	if slices.ContainsFunc(all, func(r clusters.Reply) bool { return r.ExternalID == external && r.Final }) {
		external = 0
	}
	for _, r := range all {
		if r.ExternalID == 0 || r.ExternalID == external {
			together = append(together, r)
		}
	}
	return together, external
}

// postAnswers has one comment say all of the answers. Nothing is posted if none of them waits.
func (c *Controller) postAnswers(ctx context.Context, together []clusters.Reply, external int64, marker string) error {
	var parts, waiting []string
	var newest clusters.Reply // that waits, because it has the repository's current name
	for _, r := range together {
		parts = append(parts, r.Body)
		if r.ExternalID == 0 {
			waiting, newest = append(waiting, r.ID), r
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	post := func(ctx context.Context) (int64, error) {
		return c.answer(ctx, newest, external, marker, strings.Join(parts, "\n\n---\n\n"))
	}
	id, err := post(ctx)
	if errors.Is(err, github.ErrGone) {
		id, err = c.confirmGone(ctx, newest.Installation, newest.Repo, newest.Number, post)
	}
	switch {
	case external != 0 && errors.Is(err, github.ErrGone):
		c.Log.InfoContext(ctx, "not posted again: somebody deleted it", "effect", "reply", "repo", newest.Repo, "number", newest.Number)
		return c.Store.Outbox.GiveUpReplies(ctx, waiting)
	case err != nil:
		return err
	}
	return c.Store.Outbox.RepliedAll(ctx, waiting, id)
}

func (c *Controller) answer(ctx context.Context, r clusters.Reply, external int64, marker, body string) (int64, error) {
	return c.GitHub.UpsertComment(ctx, github.CommentTarget{
		Installation: r.Installation, Repo: r.Repo, Number: r.Number, ExternalID: external, Marker: marker,
	}, body)
}

func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
