package db

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// logNotifyPause is the least time between two notifications about logs.
const logNotifyPause = 50 * time.Millisecond

// logNotifier notifies followers, after the commit, which clusters logged or got a line in the audit trail, many at once. A
// notification in the transaction itself would make all commits queue behind one lock while they wait for the disk (a trigger halved
// the reports per second). What is lost with a process is seen at the follower's next beat.
type logNotifier struct {
	pool   *pgxpool.Pool
	mu     sync.Mutex
	logged map[string]struct{} // clusters not notified yet
	wake   chan struct{}
	cancel context.CancelFunc
	gone   chan struct{}
}

func newLogNotifier(pool *pgxpool.Pool) *logNotifier {
	ctx, cancel := context.WithCancel(context.Background())
	h := &logNotifier{pool: pool, logged: map[string]struct{}{}, wake: make(chan struct{}, 1), cancel: cancel, gone: make(chan struct{})}
	go h.run(ctx)
	return h
}

// Logs records that clusters logged, or that something happened to them beside their row. It never blocks.
func (h *logNotifier) Logs(clusters ...string) {
	h.mu.Lock()
	for _, id := range clusters {
		h.logged[id] = struct{}{}
	}
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // one is pending already
	}
}

func (h *logNotifier) stop() {
	h.cancel()
	<-h.gone
}

func (h *logNotifier) run(ctx context.Context) {
	defer close(h.gone)
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
		}
		h.notify(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(logNotifyPause):
		}
	}
}

func (h *logNotifier) notify(ctx context.Context) {
	h.mu.Lock()
	clusters := slices.Collect(maps.Keys(h.logged))
	clear(h.logged)
	h.mu.Unlock()
	_, _ = h.pool.Exec(ctx, `SELECT pg_notify($1, 'log ' || id) FROM unnest($2::text[]) AS id`, changesChannel, clusters) // an error delays it by one beat
}
