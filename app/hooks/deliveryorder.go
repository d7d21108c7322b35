package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/store"
)

const (
	// holdsFor is how long after its arrival a delivery that fails may hold up later ones. After that it is tried apart.
	holdsFor = 30 * time.Second
	// turn is how long a job sleeps whose topic is being worked by another worker. No worker waits in place.
	turn = time.Second
	// drainsFor is how long one job works a topic's later deliveries, too, before it leaves the worker to others.
	drainsFor = 10 * time.Second
)

// held says that a delivery cannot be worked yet because of others of its topic. Its job sleeps meanwhile.
type held struct{ wait time.Duration }

func (h held) Error() string {
	return "earlier deliveries on its topic are processed first, retrying in " + h.wait.String()
}

// Work implements river.Worker.
func (w *InboxWorker) Work(ctx context.Context, job *river.Job[store.InboxArgs]) error {
	err := w.inOrder(ctx, job.Args.Row)
	var limited github.RateLimited
	if errors.As(err, &limited) {
		return river.JobSnooze(limited.RetryAfter)
	}
	var wait held
	if errors.As(err, &wait) {
		return river.JobSnooze(wait.wait)
	}
	return err
}

// inOrder works a delivery after everything of its topic, and of its whole repository, that came in before it, and beside
// nothing of its topic: two events of one second are told apart by nothing but their order of arrival. A delivery that failed
// and is older than holdsFor has left the line and is tried beside it.
func (w *InboxWorker) inOrder(ctx context.Context, row int64) error {
	delivery, done, err := w.store.Delivery(ctx, row)
	if errors.Is(err, store.ErrNotFound) || done {
		return nil
	}
	if err != nil {
		return fmt.Errorf("load delivery %d: %w", row, err)
	}
	now, err := w.store.Now(ctx)
	if err != nil {
		return err
	}
	lock := fmt.Sprintf("inbox %s of %d", delivery.Topic, delivery.Installation)
	work := func(ctx context.Context) error { return w.drain(ctx, delivery) }
	if apart := delivery.Tries > 0 && now.Sub(delivery.ReceivedAt) >= holdsFor; apart || delivery.Topic == "" {
		lock = fmt.Sprintf("inbox delivery %d", row)
		work = func(ctx context.Context) error { return w.Process(ctx, row) }
	} else if wait, err := w.around(ctx, delivery); err != nil {
		return err
	} else if wait > 0 && !overtakes(delivery) {
		return errors.Join(held{wait}, w.endEarly(ctx, delivery))
	}
	ran, err := w.store.Alone(ctx, lock, work)
	if err == nil && !ran {
		return held{turn}
	}
	return err
}

// around works what came in before a delivery, is of its repository and has another topic: for a pull request, what happened to
// the repository as a whole; for that, all of its pull requests, under the name before too. It holds no lock meanwhile, so
// nobody waits in a circle: each waits for older ones alone. It returns how long they hold the delivery up.
func (w *InboxWorker) around(ctx context.Context, d store.Delivery) (wait time.Duration, err error) {
	var rows []store.Waiting
	if repo, _, of := strings.Cut(d.Topic, "#"); of {
		rows, err = w.store.UndoneAbout(ctx, []string{repo}, d.Row)
	} else if was := formerly(d); was != "" {
		rows, err = w.store.UndoneIn(ctx, []string{d.Topic, was}, d.Row)
	}
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	now, err := w.store.Now(ctx)
	if err != nil {
		return 0, err
	}
	tries, cancel := sparing(ctx)
	defer cancel()
	for _, older := range rows {
		if older.Installation != d.Installation && strings.Contains(d.Topic, "#") || older.Tries > 0 && holds(older, now) == 0 {
			continue // what another installation sends, and what left the line, holds nobody up
		}
		if left := pause(older, now); left > 0 {
			wait = max(wait, left)
			continue
		}
		var busy held
		switch err := w.inOrder(tries, older.Row); {
		case errors.As(err, &busy): // it is being worked, and nothing overtakes that
			if left := min(busy.wait, holds(older, now)); left > 0 {
				return 0, held{left}
			}
		case err != nil:
			wait = max(wait, min(turn, holds(older, now)))
		}
		if tries.Err() != nil {
			break
		}
	}
	return wait, ctx.Err()
}

// holds is how long a delivery may still hold up later ones.
func holds(d store.Waiting, now time.Time) time.Duration {
	return max(0, holdsFor-now.Sub(d.ReceivedAt))
}

// pause is how long a delivery that failed holds up later ones until its next try; 0: it is not waiting for one.
func pause(d store.Waiting, now time.Time) time.Duration {
	if d.Tries == 0 || d.TryAt == nil {
		return 0
	}
	return min(max(0, d.TryAt.Sub(now)), holds(d, now))
}

// sparing leaves a delivery half of the time there is, where what came in before it is tried, and never tries longer than
// drainsFor.
func sparing(ctx context.Context) (context.Context, context.CancelFunc) {
	budget := drainsFor
	if end, ends := ctx.Deadline(); ends {
		budget = min(budget, time.Until(end)/2)
	}
	return context.WithTimeout(ctx, budget)
}

// drain works the topic's undone deliveries in order: those before a delivery, itself, and for a while those after it, so that
// one worker at a time is enough for a topic. It returns the delivery's own error, or held.
func (w *InboxWorker) drain(ctx context.Context, own store.Delivery) error {
	l := line{w: w, own: own, began: time.Now(), seen: map[int64]bool{}}
	for {
		rows, err := w.store.Undone(ctx, own.Topic, own.Installation)
		if err != nil {
			return err
		}
		barrier, err := w.barrier(ctx, own)
		if err != nil {
			return err
		}
		worked, err := l.pass(ctx, rows, barrier)
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

// barrier is the first delivery after this one that is about its repository as a whole: the drain ends before it. Where this
// one is about no pull request, the drain ends with itself.
func (w *InboxWorker) barrier(ctx context.Context, own store.Delivery) (int64, error) {
	repo, _, of := strings.Cut(own.Topic, "#")
	if !of {
		return own.Row + 1, nil
	}
	return w.store.UndoneAfter(ctx, repo, own.Row)
}

// line is one job's way through a topic's deliveries.
type line struct {
	w     *InboxWorker
	own   store.Delivery
	began time.Time
	seen  map[int64]bool // tried by this job
	wait  time.Duration  // how long those that failed hold up the others
	err   error          // of the job's own delivery
}

// pass tries what may be tried, in order. worked: it tried something, so more may have come in meanwhile.
func (l *line) pass(ctx context.Context, rows []store.Waiting, barrier int64) (worked bool, err error) {
	now, err := l.w.store.Now(ctx)
	if err != nil {
		return false, err
	}
	for _, d := range rows {
		mine := d.Row == l.own.Row
		switch {
		case barrier != 0 && d.Row >= barrier, d.Row > l.own.Row && time.Since(l.began) > drainsFor:
			return worked, nil
		case l.seen[d.Row], d.Tries > 0 && holds(d, now) == 0 && !mine:
			continue
		}
		if left := pause(d, now); left > 0 && !mine {
			l.wait = max(l.wait, left)
			continue
		}
		if l.wait > 0 && !l.overtakes(ctx, d.Row) {
			continue
		}
		if err := l.try(ctx, d, now); err != nil && mine {
			l.err = err
		}
		worked = true
	}
	return worked, nil
}

// try processes one delivery. A failure holds up those behind it, until it is tried again.
func (l *line) try(ctx context.Context, d store.Waiting, now time.Time) error {
	l.seen[d.Row] = true
	budget, cancel := ctx, context.CancelFunc(func() {})
	if d.Row != l.own.Row {
		budget, cancel = sparing(ctx)
	}
	defer cancel()
	err := l.w.Process(budget, d.Row)
	if err != nil {
		l.wait = max(l.wait, min(turn<<min(d.Tries, 5), holds(d, now)))
	}
	return err
}

// overtakes says whether a delivery waits for none that failed.
func (l *line) overtakes(ctx context.Context, row int64) bool {
	d, done, err := l.w.store.Delivery(ctx, row)
	return err == nil && !done && overtakes(d)
}
