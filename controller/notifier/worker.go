package notifier

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/notices"
)

type noticeWorker struct {
	river.WorkerDefaults[queue.NoticeArgs]
	n *Notifier
}

// Work posts what waits in the place of a notice, this notice among it. If it has to wait for a turn, the job waits.
func (w *noticeWorker) Work(ctx context.Context, job *river.Job[queue.NoticeArgs]) error {
	err := w.n.catchUp(ctx, job.Args.Notice)
	var turn later
	if !errors.As(err, &turn) {
		return err
	}
	return river.JobSnooze(turn.wait + rand.N(max(turn.wait/4, 10*time.Millisecond)))
}

const (
	// rounds is how many messages one job posts at most.
	rounds = 10
	// noSlackPause is how often a process without a bot token says so.
	noSlackPause = 10 * time.Minute
	// batch is how many waiting notices are looked at together.
	batch = 30
)

// later says that nothing can be posted in a place before that time.
type later struct{ wait time.Duration }

// Error implements error.
func (l later) Error() string { return fmt.Sprintf("not its turn yet, retry in %s", l.wait) }

// catchUp posts what waits in a notice's place, one message after the other. One job at a time works on a place. A job that finds
// another at work leaves everything to it; that one looks once more after it let go.
func (n *Notifier) catchUp(ctx context.Context, id string) error {
	one, err := n.Store.Notices.Notice(ctx, id)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	place := fmt.Sprintf("notices %s %s %s %s", one.Workspace, one.Channel, one.Person, one.Thread)
	for range rounds {
		waits := false
		alone, err := n.Store.Alone(ctx, place, func(ctx context.Context) (err error) {
			waits, err = n.postNext(ctx, id)
			return err
		})
		if err != nil || !alone {
			return err
		}
		if !waits { // what was written between the last look and the release is seen now
			list, err := n.Store.Notices.Waiting(ctx, id, 1)
			if err != nil || len(list) == 0 {
				return err
			}
		}
	}
	return later{time.Second}
}

// postNext posts or updates one message of a place. waits is false if nothing waited there.
func (n *Notifier) postNext(ctx context.Context, id string) (waits bool, err error) {
	list, err := n.Store.Notices.Waiting(ctx, id, batch)
	if err != nil || len(list) == 0 {
		return false, err
	}
	if n.Slack == nil {
		n.Log.ErrorContext(ctx, "notices are not posted: this process has no bot token; set slack.bot_token_ref", "waiting", len(list))
		return true, later{noSlackPause}
	}
	now, err := n.Store.Now(ctx)
	if err != nil {
		return true, err
	}
	seen := newSights(n.Store)
	list, err = n.dropOutdated(ctx, seen, list, now)
	if err != nil || len(list) == 0 {
		return true, err
	}
	if list[0].ExternalID != 0 {
		return true, n.updateMessage(ctx, list[0])
	}
	return true, n.postNotices(ctx, seen, nextTogether(list), now)
}

// dropOutdated gives up the notices that nobody must read any more, and returns the others. One that may have been posted is kept until that
// is known.
func (n *Notifier) dropOutdated(ctx context.Context, seen *sights, list []notices.Notice, now time.Time) (kept []notices.Notice, err error) {
	for _, one := range list {
		s, err := seen.sightOf(ctx, one)
		if err != nil {
			return nil, err
		}
		why := ""
		if one.ExternalID == 0 && one.PostingAt == nil {
			why = whyOutdated(one, s, now)
		}
		if why == "" {
			kept = append(kept, one)
			continue
		}
		n.Log.InfoContext(ctx, "notice not posted", "notice", one.ID, "kind", one.Kind, "cluster", one.Cluster, "why", why)
		if err := n.Store.Notices.GiveUp(ctx, []string{one.ID}, why); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

const (
	// flood is how many notices of one kind are posted each alone while they wait for one place.
	flood = 3
	// mostTogether is how many notices one message tells.
	mostTogether = 20
)

// nextTogether returns the notices that are posted next, in one message: the first, or a digest if many of its kind wait. What may already
// have been posted together stays together.
func nextTogether(list []notices.Notice) (same []notices.Notice) {
	head := list[0]
	for _, one := range list {
		if one.Kind == head.Kind && one.ExternalID == 0 && samePost(one.PostingAt, head.PostingAt) {
			same = append(same, one)
		}
	}
	if head.PostingAt == nil && (len(same) <= flood || alone[head.Kind]) {
		return same[:1]
	}
	return same[:min(len(same), mostTogether)]
}

func samePost(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}
