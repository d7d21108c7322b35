package store

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ringPause is the least time between two notifications.
const ringPause = 2 * time.Millisecond

// bell notifies River's clients, after a commit, that a queue has work. River notifies too, but drops notifications within its
// fetch cooldown, and a notification inside a transaction makes all commits queue behind one lock while they wait for the disk.
// A lost notification costs one poll interval.
type bell struct {
	pool   *pgxpool.Pool
	rung   map[string]*atomic.Bool
	wake   chan struct{}
	cancel context.CancelFunc
	gone   chan struct{}
}

func newBell(pool *pgxpool.Pool) *bell {
	ctx, cancel := context.WithCancel(context.Background())
	b := &bell{pool: pool, wake: make(chan struct{}, 1), cancel: cancel, gone: make(chan struct{}), rung: map[string]*atomic.Bool{
		QueueInbox: {}, QueueHeart: {}, QueueEffects: {}, QueueWords: {},
	}}
	go b.run(ctx)
	return b
}

// ring asks for a notification about the queues. It never blocks.
func (b *bell) ring(queues ...string) {
	for _, queue := range queues {
		b.rung[queue].Store(true)
	}
	if len(queues) == 0 {
		return
	}
	select {
	case b.wake <- struct{}{}:
	default: // one is pending already
	}
}

func (b *bell) stop() {
	b.cancel()
	<-b.gone
}

func (b *bell) run(ctx context.Context) {
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
		pause.Reset(ringPause)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// tell sends River's own notification. A transaction that does nothing else does not wait for the disk.
func (b *bell) tell(ctx context.Context) {
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
