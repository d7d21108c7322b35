package db

import (
	"context"
	"slices"
)

// mostNamed is how many clusters a change names before it says all.
const mostNamed = 100

// Change is what may have changed since the last Change was taken. A follower then looks again.
type Change struct {
	All      bool     // anything: changes may have been missed, or are too many to name
	Clusters []string // rows
	Logs     []string // clusters that logged, or got a line in the audit trail
}

// Follow reports changes of the named clusters, or of all. Read once after Follow returns and again at each change, and nothing
// is missed. The first change may come at once. A slow follower finds everything since in one change, and never holds up others.
// The channel is closed by stop, and when ctx is done or the store is closed.
func (s *DB) Follow(ctx context.Context, clusters ...string) (changes <-chan Change, stop func()) {
	w := &watcher{changes: make(chan Change, 1), clusters: clusters}
	s.feed.add(w)
	unhook := context.AfterFunc(ctx, func() { s.feed.drop(w) })
	return w.changes, func() {
		unhook()
		s.feed.drop(w)
	}
}

// watcher is one follower. Its channel holds one change, which grows until it is taken.
type watcher struct {
	changes  chan Change
	clusters []string // none: all
	gone     bool
}

// give never blocks: it takes back a change that was not read yet and adds to it. The caller holds the feed's lock.
func (w *watcher) give(news Change) {
	select {
	case before := <-w.changes:
		news = before.and(news)
	default:
	}
	w.changes <- news // only the lock holder sends, so the buffer has space
}

// and returns both changes as one.
func (c Change) and(d Change) Change {
	sum := Change{All: c.All || d.All, Clusters: union(c.Clusters, d.Clusters), Logs: union(c.Logs, d.Logs)}
	if sum.All || len(sum.Clusters)+len(sum.Logs) > mostNamed {
		return Change{All: true}
	}
	return sum
}

// union returns a new slice, so that watchers share none.
func union(a, b []string) []string {
	sum := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(sum, id) {
			sum = append(sum, id)
		}
	}
	return sum
}
