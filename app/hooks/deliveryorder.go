package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
)

const (
	// holdsFor is how long after its arrival a failing delivery may delay later ones. After that it is retried on its own.
	holdsFor = 30 * time.Second
	// turn is how long a job sleeps while another worker processes its topic. No worker blocks.
	turn = time.Second
	// drainsFor is how long one job also processes a topic's later deliveries before it leaves the worker to others.
	drainsFor = 10 * time.Second
)

// held says that a delivery has to wait for others of its topic. Its job sleeps meanwhile.
type held struct{ wait time.Duration }

func (h held) Error() string {
	return "earlier deliveries on its topic are processed first, retrying in " + h.wait.String()
}

// Work implements river.Worker.
func (w *InboxWorker) Work(ctx context.Context, job *river.Job[queue.InboxArgs]) error {
	err := w.inOrder(ctx, job.Args.Row)
	if wait := retryAfter(err); wait > 0 {
		return river.JobSnooze(wait)
	}
	var wait held
	if errors.As(err, &wait) {
		return river.JobSnooze(wait.wait)
	}
	return err
}

// inOrder processes a delivery after every earlier one of its topic and of its whole repository, and never in parallel with its
// topic: only the order of arrival distinguishes two events of the same second. A failed delivery older than holdsFor has left the
// queue and is retried on its own.
func (w *InboxWorker) inOrder(ctx context.Context, row int64) error {
	delivery, done, err := w.store.Inbox.Delivery(ctx, row)
	if errors.Is(err, db.ErrNotFound) || done {
		return nil
	}
	if err != nil {
		return fmt.Errorf("load delivery %d: %w", row, err)
	}
	w.openWindow(ctx, delivery) // it waits for nothing
	lock := fmt.Sprintf("inbox %s of %d", delivery.Topic, delivery.Installation)
	work := func(ctx context.Context) error { return w.drainTopic(ctx, delivery) }
	if apart := delivery.Tries > 0 && delivery.ReadAt.Sub(delivery.ReceivedAt) >= holdsFor; apart || delivery.Topic == "" {
		lock = fmt.Sprintf("inbox delivery %d", row)
		work = func(ctx context.Context) error { return w.processDelivery(ctx, row, true) }
	} else if wait, err := w.processEarlier(ctx, delivery); err != nil {
		return err
	} else if wait > 0 && !mayOvertake(delivery) {
		return errors.Join(held{wait}, w.endEarly(ctx, delivery))
	}
	ran, err := w.store.Alone(ctx, lock, work)
	if err == nil && !ran {
		return held{turn}
	}
	return err
}

// processEarlier processes earlier deliveries of the same repository with another topic: for a pull request those of the repository as a
// whole; for the repository those of all its pull requests, also under its earlier name. It holds no lock meanwhile and each delivery
// waits only for older ones, so there is no deadlock. It returns how long they delay this delivery.
func (w *InboxWorker) processEarlier(ctx context.Context, d inbox.Delivery) (wait time.Duration, err error) {
	var rows []inbox.Waiting
	if repo, _, of := strings.Cut(d.Topic, "#"); of {
		rows, err = w.store.Inbox.UndoneAbout(ctx, []string{repo}, d.Row)
	} else if was := formerRepository(d); was != "" {
		rows, err = w.store.Inbox.UndoneIn(ctx, []string{d.Topic, was}, d.Row)
	}
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	now, err := w.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	tries, cancel := halfOfTimeLeft(ctx)
	defer cancel()
	for _, older := range rows {
		if older.Installation != d.Installation && strings.Contains(d.Topic, "#") || older.Tries > 0 && delayOf(older, now) == 0 {
			continue // other installations, and deliveries that left the queue, delay nobody
		}
		if left := pauseUntilRetry(older, now); left > 0 {
			wait = max(wait, left)
			continue
		}
		var busy held
		switch err := w.inOrder(tries, older.Row); {
		case errors.As(err, &busy): // it is being processed, and nothing may overtake that
			if left := min(busy.wait, delayOf(older, now)); left > 0 {
				return 0, held{left}
			}
		case err != nil:
			wait = max(wait, min(turn, delayOf(older, now)))
		}
		if tries.Err() != nil {
			break
		}
	}
	return wait, ctx.Err()
}

// delayOf returns how long a delivery may still delay later ones.
func delayOf(d inbox.Waiting, now time.Time) time.Duration {
	return max(0, holdsFor-now.Sub(d.ReceivedAt))
}

// pauseUntilRetry returns how long a failed delivery delays later ones until its next try; 0: it does not wait for one.
func pauseUntilRetry(d inbox.Waiting, now time.Time) time.Duration {
	if d.Tries == 0 || d.TryAt == nil {
		return 0
	}
	return min(max(0, d.TryAt.Sub(now)), delayOf(d, now))
}

// halfOfTimeLeft limits the time for earlier deliveries to half of what is left, and to drainsFor, so that the delivery itself has the other
// half.
func halfOfTimeLeft(ctx context.Context) (context.Context, context.CancelFunc) {
	budget := drainsFor
	if end, ends := ctx.Deadline(); ends {
		budget = min(budget, time.Until(end)/2)
	}
	return context.WithTimeout(ctx, budget)
}

// drainTopic processes the topic's pending deliveries in order: those before a delivery, itself, and for a while those after it, so that
// one worker at a time is enough for a topic. It returns the delivery's own error, or held.
func (w *InboxWorker) drainTopic(ctx context.Context, own inbox.Delivery) error {
	l := line{w: w, own: own, began: time.Now(), seen: map[int64]bool{}}
	for {
		rows, err := w.store.Inbox.Undone(ctx, own.Topic, own.Installation)
		if err != nil {
			return err
		}
		barrier, err := w.findBarrier(ctx, own)
		if err != nil {
			return err
		}
		worked, err := l.processRows(ctx, rows, barrier)
		if err != nil {
			return err
		}
		if !worked || time.Since(l.began) > drainsFor || ctx.Err() != nil {
			break
		}
	}
	if !l.seen[own.Row] {
		return errors.Join(held{max(l.wait, time.Millisecond)}, w.endEarly(ctx, own))
	}
	return l.err
}

// findBarrier returns the first later delivery that concerns the repository as a whole; the drain ends before it. If this delivery itself
// concerns no pull request, the drain ends with it.
func (w *InboxWorker) findBarrier(ctx context.Context, own inbox.Delivery) (int64, error) {
	repo, _, of := strings.Cut(own.Topic, "#")
	if !of {
		return own.Row + 1, nil
	}
	return w.store.Inbox.UndoneAfter(ctx, repo, own.Row)
}

// line is one job's pass through a topic's deliveries.
type line struct {
	w     *InboxWorker
	own   inbox.Delivery
	began time.Time
	seen  map[int64]bool // tried by this job
	wait  time.Duration  // how long failed deliveries delay the others
	err   error          // of the job's own delivery
}

// processRows processes in order what may be processed. worked: it processed something, so more may have arrived meanwhile.
func (l *line) processRows(ctx context.Context, rows []inbox.Waiting, barrier int64) (worked bool, err error) {
	now, err := l.w.store.Now(ctx)
	if err != nil {
		return false, err
	}
	for _, d := range rows {
		mine := d.Row == l.own.Row
		switch {
		case barrier != 0 && d.Row >= barrier, d.Row > l.own.Row && time.Since(l.began) > drainsFor:
			return worked, nil
		case l.seen[d.Row], d.Tries > 0 && delayOf(d, now) == 0 && !mine:
			continue
		}
		if left := pauseUntilRetry(d, now); left > 0 && !mine {
			l.wait = max(l.wait, left)
			continue
		}
		if l.wait > 0 && !l.mayOvertake(ctx, d.Row) {
			continue
		}
		if err := l.processOne(ctx, d, now); err != nil && mine {
			l.err = err
		}
		worked = true
	}
	return worked, nil
}

// processOne processes one delivery. A failure delays those after it until its next try.
func (l *line) processOne(ctx context.Context, d inbox.Waiting, now time.Time) error {
	l.seen[d.Row] = true
	budget, cancel := ctx, context.CancelFunc(func() {})
	if d.Row != l.own.Row {
		budget, cancel = halfOfTimeLeft(ctx)
	}
	defer cancel()
	err := l.w.processDelivery(budget, d.Row, d.Row == l.own.Row)
	if err != nil {
		l.wait = max(l.wait, min(turn<<min(d.Tries, 5), delayOf(d, now)))
	}
	return err
}

// mayOvertake reports whether a delivery need not wait for failed ones.
func (l *line) mayOvertake(ctx context.Context, row int64) bool {
	d, done, err := l.w.store.Inbox.Delivery(ctx, row)
	return err == nil && !done && mayOvertake(d)
}
