package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// catchUpAll has the subscribers of a cluster updated whose text changed. Most versions change no text; those are skipped at once, without
// a job for each subscriber.
func (c *Controller) catchUpAll(ctx context.Context, cluster string) error {
	behind, row, err := c.Store.Outbox.SubscribersBehind(ctx, cluster)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var unchanged []outbox.Subscriber
	for _, sub := range behind {
		if sub.Workspace != "" { // its worker knows what stands in the thread
			continue
		}
		what, err := c.render(ctx, sub, row)
		if err != nil {
			return fmt.Errorf("render %s for %s: %w", row.ID, sub.ID, err)
		}
		if what.hash == sub.ShownBody {
			unchanged = append(unchanged, sub)
		}
	}
	return c.Store.Outbox.SkipVersion(ctx, behind, unchanged, row.Cluster.Version)
}

// catchUp shows the current state, and repeats as long as it changed meanwhile; newest is the version that was shown last. One job at
// a time works on a subscriber, so that two first posts never race. A job that finds another one at work leaves the update to it;
// that one checks once more after releasing the lock. Nothing is sent if the text did not change.
func (c *Controller) catchUp(ctx context.Context, subscriber string) (newest int64, err error) {
	for range rounds {
		done := false
		alone, err := c.Store.Alone(ctx, "show "+subscriber, func(ctx context.Context) (err error) {
			newest, done, err = c.look(ctx, subscriber)
			return err
		})
		switch {
		case err != nil:
			return newest, err
		case !alone:
			return newest, river.JobSnooze(time.Second)
		case done: // what changed between the last check and the release is seen now
			sub, _, err := c.lags(ctx, subscriber)
			if err != nil || sub.ID == "" {
				return newest, err
			}
		}
	}
	return newest, river.JobSnooze(time.Second)
}

// lags returns a subscriber and its cluster if the subscriber shows an older version; otherwise there is nothing to do, or no such
// subscriber.
func (c *Controller) lags(ctx context.Context, subscriber string) (sub outbox.Subscriber, row clusters.Row, err error) {
	sub, row, err = c.Store.Outbox.SubscriberToShow(ctx, subscriber)
	if errors.Is(err, db.ErrNotFound) {
		return outbox.Subscriber{}, clusters.Row{}, nil
	}
	if err != nil || sub.Muted || sub.ShownVersion >= row.Cluster.Version {
		return outbox.Subscriber{}, row, err
	}
	return sub, row, nil
}

// look updates one subscriber to its cluster's version if it lags behind; done reports that it did not.
func (c *Controller) look(ctx context.Context, subscriber string) (newest int64, done bool, err error) {
	sub, row, err := c.lags(ctx, subscriber)
	if err != nil || sub.ID == "" {
		return row.Cluster.Version, true, err
	}
	done, err = c.show(ctx, sub, row)
	return row.Cluster.Version, done, err
}

// show updates a subscriber to its cluster's version. done reports that nothing is left to show there.
func (c *Controller) show(ctx context.Context, sub outbox.Subscriber, row clusters.Row) (done bool, err error) {
	if sub.Workspace != "" {
		return c.showInSlack(ctx, sub, row)
	}
	if err := c.delayEdit(ctx, sub, row); err != nil {
		return false, err
	}
	what, err := c.render(ctx, sub, row)
	if err != nil {
		return false, fmt.Errorf("render %s for %s: %w", row.ID, sub.ID, err)
	}
	external := sub.ExternalID
	if what.hash != sub.ShownBody {
		if err := c.paceWrite(ctx, sub.Installation, canWait(sub, row)); err != nil {
			return false, err
		}
		since, err := c.Store.Outbox.Posting(ctx, sub)
		if errors.Is(err, db.ErrNotFound) { // a later version was skipped
			return false, nil
		}
		if err != nil {
			return false, err
		}
		external, err = what.post(ctx, place{external, since.IsZero()})
		if errors.Is(err, github.ErrGone) {
			if external, err = c.replaceMissing(ctx, sub, what); err == nil && external == 0 {
				return true, nil
			}
		}
		if errors.Is(err, github.ErrLocked) { // the check says so, and the next change of the cluster tries again
			c.Log.WarnContext(ctx, "the conversation is locked", "cluster", row.ID, "effect", "publish", "repo", sub.Repo, "number", sub.Number)
			return false, c.Store.Outbox.CommentIsLocked(ctx, sub, row.Cluster.Version)
		}
		if err != nil {
			return false, fmt.Errorf("show %s at %s: %w", row.ID, sub.ID, err)
		}
	}
	if sub.ShownBody == outbox.ShownLocked {
		return false, c.Store.Outbox.ShownUnlocked(ctx, sub, external, row.Cluster.Version, what.hash)
	}
	return false, c.Store.Outbox.Shown(ctx, sub.ID, external, row.Cluster.Version, what.hash)
}

// replaceMissing handles an object that GitHub no longer knows.
//
// Nobody can delete a check run: if one is gone, GitHub lost it, and it is posted again. A comment or deployment was deleted by a
// person or a workflow, who would do it again: it is left alone from then on.
func (c *Controller) replaceMissing(ctx context.Context, sub outbox.Subscriber, what shown) (external int64, err error) {
	if sub.Kind == clusters.KindCheck {
		return what.post(ctx, place{})
	}
	external, err = c.confirmGone(ctx, sub.Installation, sub.Repo, sub.Number, func(ctx context.Context) (int64, error) {
		return what.post(ctx, place{id: sub.ExternalID})
	})
	if !errors.Is(err, github.ErrGone) {
		return external, err
	}
	c.Log.InfoContext(ctx, "not posted again: somebody deleted it", "cluster", sub.Cluster, "effect", "publish", "place", sub.Kind, "repo", sub.Repo, "number", sub.Number)
	return 0, c.Store.Outbox.Mute(ctx, sub.ID)
}

// confirmGone posts once more before something counts as deleted. A repository that is no longer visible hides everything in it, and
// GitHub may briefly not know what was just created; it rules out both. ErrGone: it is deleted.
func (c *Controller) confirmGone(ctx context.Context, installation int64, repo string, number int, post func(context.Context) (int64, error)) (external int64, err error) {
	if _, err := c.GitHub.PullRequest(ctx, installation, repo, number); err != nil {
		return 0, err
	}
	if !waitFor(ctx, c.Settling) {
		return 0, ctx.Err()
	}
	return post(ctx)
}
