package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// What a limit counts over, spelt as policy and the catalogue spell it.
const (
	ScopePerson     = "person"
	ScopeTeam       = "team"
	ScopeRepository = "repository"
	ScopeEverywhere = "everywhere"
)

// What a limit counts.
const (
	CountLive     = "live"     // until it is released
	CountCreating = "creating" // until it is ready, or no longer wanted
)

// Limit is a bound on how many clusters there may be at once, as it held when a cluster was accepted.
type Limit struct {
	Quota string `json:"quota"` // its name in the catalogue
	Scope string `json:"scope"`
	Key   string `json:"key"` // which person, team or repository; empty for everywhere
	What  string `json:"what"`
	Most  int    `json:"most"`
}

// Words says which limit it is. They do not change while one waits for it.
func (l Limit) Words() string {
	who := "everybody together"
	if l.Scope != ScopeEverywhere {
		who = l.Scope + " " + l.Key
	}
	what := "live at once"
	if l.What == CountCreating {
		what = "being created at once"
	}
	clusters := "clusters"
	if l.Most == 1 {
		clusters = "cluster"
	}
	return fmt.Sprintf("%s may have %d %s %s (quota %s)", who, l.Most, clusters, what, l.Quota)
}

// Party is whom a cluster counts for.
type Party struct{ Person, Team, Repo string }

// bound is what limits count by: one number of one person, team, repository or everybody.
type bound struct{ scope, key, what string }

func (l Limit) bound() bound { return bound{l.Scope, l.Key, l.What} }

// bounds are the numbers a cluster of the party counts in.
func (p Party) bounds(what string) [4]bound {
	return [4]bound{{ScopePerson, p.Person, what}, {ScopeTeam, p.Team, what}, {ScopeRepository, p.Repo, what}, {ScopeEverywhere, "", what}}
}

// Holder is a cluster that counts.
type Holder struct {
	Party
	Creating bool
	Ends     time.Time // when it may stop counting as live; zero: not known
	Made     time.Time // when it may stop counting as being created; zero: not known
}

// Waiter is a cluster that waits for its turn.
type Waiter struct {
	Party
	Cluster string
	Weight  int // the team's share of turns: one with 2 gets twice as many as one with 1
	Since   time.Time
	Limits  []Limit

	Unapproved bool // it cannot begin yet: the live place that it would get is kept for it, and no other's ahead of it
}

// Take says whose turn it is now, and where the others stand.
//
// Everybody who waits for nothing but limits that have room gets a turn, and no limit is ever passed. Teams take turns so that
// the one with the fewest live clusters for its weight comes first; within a team it is first come, first served. One whose
// limit is full holds up nobody who does not need that limit. One that nobody approved yet has a place kept when it comes to its
// turn, gets none before and is told no place.
func Take(waiting []Waiter, held []Holder) (granted []string, places map[string]Turn) {
	l := newTally(waiting, held)
	var left []Waiter
	for queues := queue(waiting); len(queues) > 0; {
		queues, left = l.setAside(queues, left)
		if len(queues) == 0 {
			break
		}
		i := l.next(queues)
		w := queues[i][0]
		l.count(Holder{Party: w.Party, Creating: !w.Unapproved})
		if !w.Unapproved {
			granted = append(granted, w.Cluster)
		}
		queues = pop(queues, i)
	}
	return granted, l.places(slices.DeleteFunc(left, func(w Waiter) bool { return w.Unapproved }))
}

// queue gives every team a queue of its own, in the order of arrival.
func queue(waiting []Waiter) (queues [][]Waiter) {
	waiting = slices.Clone(waiting)
	slices.SortFunc(waiting, earlier)
	of := map[string]int{}
	for _, w := range waiting {
		i, ok := of[w.Team]
		if !ok {
			i = len(queues)
			of[w.Team], queues = i, append(queues, nil)
		}
		queues[i] = append(queues[i], w)
	}
	return queues
}

func earlier(a, b Waiter) int {
	return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Cluster, b.Cluster))
}

// pop takes the first of a queue, and the queue with its last.
func pop(queues [][]Waiter, i int) [][]Waiter {
	if queues[i] = queues[i][1:]; len(queues[i]) == 0 {
		return slices.Delete(queues, i, i+1)
	}
	return queues
}

// tally is what is counted while turns are given.
type tally struct {
	ends  map[bound][]time.Time // of those that count, when they may stop to; zero: not known. Nil: no limit asks for it
	teams map[string]int        // live clusters
}

func newTally(waiting []Waiter, held []Holder) *tally {
	l := &tally{ends: map[bound][]time.Time{}, teams: map[string]int{}}
	for _, w := range waiting {
		for _, limit := range w.Limits {
			l.ends[limit.bound()] = []time.Time{}
		}
	}
	for _, h := range held {
		l.count(h)
	}
	return l
}

func (l *tally) count(h Holder) {
	l.teams[h.Team]++
	l.add(h.bounds(CountLive), h.Ends)
	if h.Creating {
		l.add(h.bounds(CountCreating), h.Made)
	}
}

func (l *tally) add(to [4]bound, ends time.Time) {
	for _, b := range to {
		if counted := l.ends[b]; counted != nil {
			l.ends[b] = append(counted, ends)
		}
	}
}

// full lists the limits that have no room for one more.
func (l *tally) full(w Waiter) (full []Limit) {
	for _, limit := range w.Limits {
		if w.Unapproved && limit.What != CountLive {
			continue // it creates nothing yet
		}
		if len(l.ends[limit.bound()]) >= limit.Most {
			full = append(full, limit)
		}
	}
	return full
}

// setAside takes from the heads of the queues who has no turn now. What is full stays full while turns are given, so nobody
// needs to be looked at twice.
func (l *tally) setAside(queues [][]Waiter, left []Waiter) (rest [][]Waiter, more []Waiter) {
	for _, q := range queues {
		for len(q) > 0 && len(l.full(q[0])) > 0 {
			left, q = append(left, q[0]), q[1:]
		}
		if len(q) > 0 {
			rest = append(rest, q)
		}
	}
	return rest, left
}

// next is the queue whose head comes first: that of the team with the fewest live clusters for its weight, and of such teams
// the one that waits longest.
func (l *tally) next(queues [][]Waiter) int {
	first := 0
	for i := range queues {
		a, b := queues[i][0], queues[first][0]
		if order := cmp.Compare(l.teams[a.Team]*max(b.Weight, 1), l.teams[b.Team]*max(a.Weight, 1)); order < 0 || order == 0 && earlier(a, b) < 0 {
			first = i
		}
	}
	return first
}

// places gives everybody left a place in line for the limit that will hold them up longest, by the order in which turns
// would come if everything had room.
func (l *tally) places(left []Waiter) map[string]Turn {
	for _, ends := range l.ends {
		slices.SortFunc(ends, laterUnknown)
	}
	places, ahead := map[string]Turn{}, map[bound]int{}
	for queues := queue(left); len(queues) > 0; {
		i := l.next(queues)
		w := queues[i][0]
		places[w.Cluster] = l.place(w, ahead)
		for _, what := range []string{CountLive, CountCreating} {
			for _, b := range w.bounds(what) {
				ahead[b]++
			}
		}
		l.teams[w.Team]++
		queues = pop(queues, i)
	}
	return places
}

func (l *tally) place(w Waiter, ahead map[bound]int) Turn {
	var turn Turn
	for _, limit := range l.full(w) {
		b := limit.bound()
		t := Turn{Place: 1 + ahead[b], For: limit.Words()}
		ends := l.ends[b]
		if k := len(ends) - limit.Most + ahead[b]; k < len(ends) { // that many have to go besides
			t.ETA = ends[k]
		}
		if turn.Place == 0 || cmp.Or(laterUnknown(t.ETA, turn.ETA), cmp.Compare(t.Place, turn.Place)) > 0 {
			turn = t
		}
	}
	return turn
}

// laterUnknown orders times; one that is not known comes after all.
func laterUnknown(a, b time.Time) int {
	switch {
	case a.IsZero() == b.IsZero():
		return a.Compare(b)
	case a.IsZero():
		return 1
	}
	return -1
}
