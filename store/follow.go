package store

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// changesChannel is where the database tells which cluster changed.
	changesChannel = "ocpctl_changes"
	// followName is what the listening connection is called in the database.
	followName = "ocpctl follow"
	// followBeat is how often a silent connection is asked whether it lives.
	followBeat = 30 * time.Second
	// followAnswer is how long it may take to answer, and to connect.
	followAnswer = 10 * time.Second
	// followBase and followMost bound the wait before it is connected anew.
	followBase, followMost = 50 * time.Millisecond, 10 * time.Second
	// mostNamed is how many clusters a change names before it says all.
	mostNamed = 100
)

// Change is what may have changed since the last one was taken: whoever follows looks again.
type Change struct {
	All      bool     // anything: changes may have been missed, or are too many to name
	Clusters []string // rows
	Logs     []string // clusters that logged
}

// Follow tells of changes of the named clusters, or of all. Look first after following, and again at each change: nothing is
// missed then. The first change may come at once. Whoever is slow finds everything since in one change, and never holds up
// others. The channel is closed by stop, and once ctx is over or the store is closed.
func (s *Store) Follow(ctx context.Context, clusters ...string) (changes <-chan Change, stop func()) {
	w := &watcher{changes: make(chan Change, 1), clusters: clusters}
	s.feed.add(w)
	unhook := context.AfterFunc(ctx, func() { s.feed.drop(w) })
	return w.changes, func() {
		unhook()
		s.feed.drop(w)
	}
}

// watcher is one who follows. Its channel holds one change, which grows until it is taken.
type watcher struct {
	changes  chan Change
	clusters []string // none: all
	gone     bool
}

// feed hands what one connection hears to all who follow. The connection is made when the first one comes.
type feed struct {
	pool   *pgxpool.Pool
	once   sync.Once
	cancel context.CancelFunc
	gone   chan struct{} // nil until it was begun

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

// stop ends the connection and everybody's following.
func (f *feed) stop() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	if f.gone != nil { // nobody begins it any more
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

// run keeps a connection that listens.
func (f *feed) run(ctx context.Context) {
	defer close(f.gone)
	wait := followBase
	for ctx.Err() == nil {
		began := time.Now()
		f.listen(ctx) // its error is of no use to anybody: whoever needs the database meets it himself
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

// listen hears until the connection ends. Once it listens, all are told to look: what came before was not heard.
func (f *feed) listen(ctx context.Context) {
	config := f.pool.Config().ConnConfig.Copy()
	config.RuntimeParams["application_name"] = followName
	dial, cancel := context.WithTimeout(ctx, followAnswer)
	defer cancel()
	conn, err := pgx.ConnectConfig(dial, config)
	if err != nil {
		return
	}
	defer conn.Close(context.WithoutCancel(dial)) //nolint:errcheck // it is over
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

// answers asks a connection that has been silent: one that was cut off looks the same.
func answers(ctx context.Context, conn *pgx.Conn) bool {
	ctx, stop := context.WithTimeout(ctx, followAnswer)
	defer stop()
	return conn.Ping(ctx) == nil
}

// tell hands on one notification: "cluster" or "log", and an id.
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

// give never blocks: what was not taken yet is taken back and grows. The feed's lock is held.
func (w *watcher) give(news Change) {
	select {
	case before := <-w.changes:
		news = before.and(news)
	default:
	}
	w.changes <- news // nobody else gives, so there is room
}

// and is both changes as one.
func (c Change) and(d Change) Change {
	sum := Change{All: c.All || d.All, Clusters: union(c.Clusters, d.Clusters), Logs: union(c.Logs, d.Logs)}
	if sum.All || len(sum.Clusters)+len(sum.Logs) > mostNamed {
		return Change{All: true}
	}
	return sum
}

// union shares nothing with what another watcher has.
func union(a, b []string) []string {
	sum := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(sum, id) {
			sum = append(sum, id)
		}
	}
	return sum
}
