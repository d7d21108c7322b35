package db

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// changesChannel is where the database says which cluster changed.
	changesChannel = "ocpctl_changes"
	// followName is the listening connection's application_name.
	followName = "ocpctl follow"
	// followBeat is how often a silent connection is checked.
	followBeat = 30 * time.Second
	// followAnswer is how long a connection may take to answer, and to be made.
	followAnswer = 10 * time.Second
	// followBase and followMost bound the wait before a new connection.
	followBase, followMost = 50 * time.Millisecond, 10 * time.Second
)

// feed passes what one listening connection hears to all followers. It connects when the first follower comes.
type feed struct {
	pool   *pgxpool.Pool
	once   sync.Once
	cancel context.CancelFunc
	gone   chan struct{} // nil until it was started

	mu     sync.Mutex
	closed bool
	all    map[*watcher]struct{}
	of     map[string]map[*watcher]struct{} // by cluster
}

func newFeed(pool *pgxpool.Pool) *feed {
	return &feed{pool: pool, all: map[*watcher]struct{}{}, of: map[string]map[*watcher]struct{}{}}
}

func (f *feed) add(w *watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		w.gone = true
		close(w.changes)
		return
	}
	if len(w.clusters) == 0 {
		f.all[w] = struct{}{}
	}
	for _, id := range w.clusters {
		if f.of[id] == nil {
			f.of[id] = map[*watcher]struct{}{}
		}
		f.of[id][w] = struct{}{}
	}
	f.once.Do(func() {
		var ctx context.Context
		ctx, f.cancel = context.WithCancel(context.Background())
		f.gone = make(chan struct{})
		go f.run(ctx)
	})
}

func (f *feed) drop(w *watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.gone {
		return
	}
	w.gone = true
	delete(f.all, w)
	for _, id := range w.clusters {
		if delete(f.of[id], w); len(f.of[id]) == 0 {
			delete(f.of, id)
		}
	}
	close(w.changes)
}

// stop closes the connection and ends every follower's channel.
func (f *feed) stop() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	if f.gone != nil { // nobody starts it any more
		f.cancel()
		<-f.gone
	}
	for _, w := range f.everybody() {
		f.drop(w)
	}
}

func (f *feed) everybody() []*watcher {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*watcher
	for w := range f.all {
		all = append(all, w)
	}
	for _, some := range f.of {
		for w := range some {
			all = append(all, w)
		}
	}
	return all
}

// run keeps a listening connection open.
func (f *feed) run(ctx context.Context) {
	defer close(f.gone)
	wait := followBase
	for ctx.Err() == nil {
		began := time.Now()
		f.listen(ctx) // a failure is retried; whoever needs the database sees the error anyway
		if time.Since(began) > followMost {
			wait = followBase
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, followMost)
	}
}

// listen listens until the connection ends. At its start, all followers are told to look again: earlier changes were not heard.
func (f *feed) listen(ctx context.Context) {
	config := f.pool.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] = followName
	dial, cancel := context.WithTimeout(ctx, followAnswer)
	defer cancel()
	conn, err := pgx.ConnectConfig(dial, config)
	if err != nil {
		return
	}
	defer hangUp(conn)
	if _, err := conn.Exec(dial, "LISTEN "+changesChannel); err != nil {
		return
	}
	f.tellAll()
	for {
		quiet, stop := context.WithTimeout(ctx, followBeat)
		heard, err := conn.WaitForNotification(quiet)
		silence := quiet.Err() != nil && ctx.Err() == nil
		stop()
		switch {
		case err == nil:
			f.tell(heard.Payload)
		case !silence || !answers(ctx, conn):
			return
		}
	}
}

func hangUp(conn *pgx.Conn) {
	ctx, stop := context.WithTimeout(context.Background(), followAnswer)
	defer stop()
	_ = conn.Close(ctx) // it is over either way
}

// answers checks a connection that has been silent, because a connection that was cut off looks the same.
func answers(ctx context.Context, conn *pgx.Conn) bool {
	ctx, stop := context.WithTimeout(ctx, followAnswer)
	defer stop()
	return conn.Ping(ctx) == nil
}

// tell passes on one notification: "cluster" or "log", and an id.
func (f *feed) tell(payload string) {
	kind, id, _ := strings.Cut(payload, " ")
	news := Change{Clusters: []string{id}}
	if kind == "log" {
		news = Change{Logs: []string{id}}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.of[id] {
		w.give(news)
	}
	for w := range f.all {
		w.give(news)
	}
}

func (f *feed) tellAll() {
	for _, w := range f.everybody() {
		f.mu.Lock()
		if !w.gone {
			w.give(Change{All: true})
		}
		f.mu.Unlock()
	}
}
