package db

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// notifyPause is the least time between two notifications.
const notifyPause = 2 * time.Millisecond

// queueNotifier notifies River's clients, after a commit, that a queue has work. River notifies too, but drops notifications within its
// fetch cooldown, and a notification inside a transaction makes all commits queue behind one lock while they wait for the disk.
// A lost notification costs one poll interval.
type queueNotifier struct {
	pool   *pgxpool.Pool
	rung   map[string]*atomic.Bool
	wake   chan struct{}
	cancel context.CancelFunc
	gone   chan struct{}
}

func newQueueNotifier(pool *pgxpool.Pool) *queueNotifier {
	ctx, cancel := context.WithCancel(context.Background())
	b := &queueNotifier{pool: pool, wake: make(chan struct{}, 1), cancel: cancel, gone: make(chan struct{}), rung: map[string]*atomic.Bool{
		queue.QueueInbox: {}, queue.QueueReconcile: {}, queue.QueueEffects: {}, queue.QueueMessages: {},
	}}
	go b.run(ctx)
	return b
}

// Notify asks for a notification about the queues. It never blocks. Nobody is notified about a queue of another release, whose servers poll it.
func (b *queueNotifier) Notify(queues ...string) {
	for _, queue := range queues {
		if rung, known := b.rung[queue]; known {
			rung.Store(true)
		}
	}
	if len(queues) == 0 {
		return
	}
	select {
	case b.wake <- struct{}{}:
	default: // one is pending already
	}
}

func (b *queueNotifier) stop() {
	b.cancel()
	<-b.gone
}

func (b *queueNotifier) run(ctx context.Context) {
	defer close(b.gone)
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
		b.tell(ctx)
		pause.Reset(notifyPause)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// tell sends River's own notification. A transaction that does nothing else does not wait for the disk.
func (b *queueNotifier) tell(ctx context.Context) {
	var payloads []string
	for queue, rung := range b.rung {
		if rung.Swap(false) {
			payloads = append(payloads, `{"queue": "`+queue+`"}`)
		}
	}
	// A failure costs no more than one poll interval, and whoever needs the database sees the error anyway.
	_, _ = b.pool.Exec(ctx, `
		SELECT pg_notify(current_schema() || '.river_insert', payload) FROM unnest($1::text[]) AS payload`, payloads)
}
