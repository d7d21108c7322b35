package store

import (
	"context"
	"slices"
)

// mostNamed is how many clusters a change names before it says all.
const mostNamed = 100

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
