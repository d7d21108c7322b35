package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store"
)

type publishWorker struct {
	river.WorkerDefaults[store.PublishArgs]
	c *Controller
}

// Work shows the cluster's present state at one place. Where GitHub wants no words now, the job of the newest version waits
// and those before it leave it to that one.
func (w *publishWorker) Work(ctx context.Context, job *river.Job[store.PublishArgs]) error {
	err := w.c.catchUp(ctx, job.Args.Subscriber)
	wait, paused := w.c.pause(err, job.CreatedAt)
	if !paused {
		return err
	}
	_, row, gone := w.c.Store.SubscriberToShow(ctx, job.Args.Subscriber)
	if gone == nil && row.Cluster.Version > job.Args.Version {
		return nil
	}
	w.c.Log.Warn("words wait", "cluster", row.ID, "effect", "publish", "wait", wait, "err", err)
	return river.JobSnooze(wait)
}

// catchUp shows the present state, and again as long as it changed meanwhile. One job at a time works a place, so that two
// first posts never race; one that finds another at work leaves it to that one, which looks once more after it has let
// go. Nothing is sent when the words did not change.
func (c *Controller) catchUp(ctx context.Context, subscriber string) error {
	for range rounds {
		done := false
		alone, err := c.Store.Alone(ctx, "show "+subscriber, func(ctx context.Context) (err error) {
			done, err = c.show(ctx, subscriber)
			return err
		})
		if err != nil || !alone {
			return err
		}
		if done { // what came between the look and the letting go is seen now
			lags, err := c.lags(ctx, subscriber)
			if err != nil || !lags {
				return err
			}
		}
	}
	return river.JobSnooze(time.Second)
}

// lags reports whether a place shows less than its cluster's present version.
func (c *Controller) lags(ctx context.Context, subscriber string) (bool, error) {
	sub, row, err := c.Store.SubscriberToShow(ctx, subscriber)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return sub.ShownVersion < row.Cluster.Version, err
}

// show brings one place up to its cluster's version; done says that there was nothing newer to show.
func (c *Controller) show(ctx context.Context, subscriber string) (done bool, err error) {
	sub, row, err := c.Store.SubscriberToShow(ctx, subscriber)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err != nil || (sub.ExternalID != 0 && sub.ShownVersion >= row.Cluster.Version) {
		return true, err
	}
	now, err := c.Store.Now(ctx)
	if err != nil {
		return false, err
	}
	render := c.comment
	if sub.Kind == store.KindCheck {
		render = c.check
	}
	body := render(sub, row, now)
	external := sub.ExternalID
	if body.hash != sub.ShownBody || external == 0 {
		if external, err = body.post(ctx, external); err != nil {
			return false, fmt.Errorf("show %s at %s: %w", row.ID, sub.ID, err)
		}
	}
	return false, c.Store.Shown(ctx, sub.ID, external, row.Cluster.Version, body.hash)
}

type replyWorker struct {
	river.WorkerDefaults[store.ReplyArgs]
	c *Controller
}

// Work posts one answer. The marker in it keeps a crash between posting and remembering from posting it twice.
func (w *replyWorker) Work(ctx context.Context, job *river.Job[store.ReplyArgs]) error {
	reply, err := w.c.Store.Reply(ctx, job.Args.Reply)
	if err != nil || reply.ExternalID != 0 {
		return err
	}
	id, err := w.c.Poster.UpsertComment(ctx, github.CommentTarget{
		Installation: reply.Installation, Repo: reply.Repo, Number: reply.Number, Marker: "reply:" + reply.ID,
	}, reply.Body)
	if wait, paused := w.c.pause(err, job.CreatedAt); paused {
		w.c.Log.Warn("words wait", "effect", "reply", "wait", wait, "err", err)
		return river.JobSnooze(wait)
	}
	if err != nil {
		return fmt.Errorf("post reply %s: %w", reply.ID, err)
	}
	return w.c.Store.Replied(ctx, reply.ID, id)
}

// Words that GitHub refuses wait first this long, and at most that long.
const (
	refusedPause    = 10 * time.Minute
	refusedPauseMax = time.Hour
)

// pause says whether words have to wait, and how long: for the end of a rate limit, or for a person, where GitHub will
// refuse until somebody changes something (a locked conversation, a right taken from the App, a repository that went).
// The longer a job has waited for a person the longer it goes on to wait. Any other error is River's to retry.
func (c *Controller) pause(err error, since time.Time) (wait time.Duration, paused bool) {
	var limited github.RateLimited
	switch {
	case errors.As(err, &limited):
		return max(limited.RetryAfter, time.Second), true
	case errors.Is(err, github.ErrRefused), errors.Is(err, github.ErrNotFound):
		return min(max(c.Now().Sub(since), refusedPause), refusedPauseMax), true
	}
	return 0, false
}

func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// shown is one rendering and the way to post it.
type shown struct {
	hash string
	post func(ctx context.Context, external int64) (int64, error)
}

// orAnew posts again from nothing when the place the words stood in was deleted.
func orAnew(post func(ctx context.Context, external int64) (int64, error)) func(context.Context, int64) (int64, error) {
	return func(ctx context.Context, external int64) (int64, error) {
		id, err := post(ctx, external)
		if external != 0 && errors.Is(err, github.ErrGone) {
			return post(ctx, 0)
		}
		return id, err
	}
}
