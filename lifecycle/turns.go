package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// The scopes of a limit, spelt as in policy and the catalogue.
const (
	ScopePerson     = "person"
	ScopeTeam       = "team"
	ScopeRepository = "repository"
	ScopeEverywhere = "everywhere"
)

// What a limit counts.
const (
	CountLive     = "live"     // until it is released
	CountCreating = "creating" // until it is ready or no longer wanted
)

// Limit is a bound on the number of clusters at once, as it was when a cluster was accepted.
type Limit struct {
	Quota string `json:"quota"` // name in the catalogue
	Scope string `json:"scope"`
	Key   string `json:"key"` // which person, team or repository; empty for everywhere
	What  string `json:"what"`
	Most  int    `json:"most"`
}

// Text describes the limit. The text does not change while a cluster waits for it.
func (l Limit) Text() string {
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

// Party is who a cluster counts for.
type Party struct{ Person, Team, Repo string }

// bound identifies one counter: the clusters of one person, team, repository or of everybody.
type bound struct{ scope, key, what string }

func (l Limit) bound() bound { return bound{l.Scope, l.Key, l.What} }

// bounds returns the counters in which a cluster of the party counts.
func (p Party) bounds(what string) [4]bound {
	return [4]bound{{ScopePerson, p.Person, what}, {ScopeTeam, p.Team, what}, {ScopeRepository, p.Repo, what}, {ScopeEverywhere, "", what}}
}

// Holder is a cluster that counts.
type Holder struct {
	Party
	Creating bool
	Ends     time.Time // when it may stop counting as live; zero: unknown
	Made     time.Time // when it may stop counting as being created; zero: unknown
}

// Waiter is a cluster that waits for its turn.
type Waiter struct {
	Party
	Cluster string
	Weight  int // the team's share of turns: weight 2 gets twice as many as weight 1
	Since   time.Time
	Limits  []Limit

	Unapproved bool // it cannot begin yet; when its turn comes, its live place is kept for it
}

// Take returns whose turn it is now, and the positions of the others.
//
// Everybody whose limits all have a free place gets a turn, and no limit is ever exceeded. The team with the fewest live clusters
// relative to its weight comes first; within a team it is first come, first served. A waiter with a full limit holds up only those
// who need the same limit. A waiter without approval has a place kept when its turn comes, but gets no turn and no position before it
// is approved.
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

// queue makes a queue for each team, in the order of arrival.
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

// pop removes the first entry of a queue, and the queue itself when that was its last.
func pop(queues [][]Waiter, i int) [][]Waiter {
	if queues[i] = queues[i][1:]; len(queues[i]) == 0 {
		return slices.Delete(queues, i, i+1)
	}
	return queues
}

// tally holds the counters while turns are given.
type tally struct {
	ends  map[bound][]time.Time // for each counter, when its clusters may stop counting; zero: unknown. Nil: no limit needs it
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

// full lists the limits that have no place left.
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

// setAside removes those who have no turn now from the heads of the queues. A full limit stays full while turns are given, so nobody
// has to be checked twice.
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

// next returns the queue whose head comes first: the team with the fewest live clusters relative to its weight, and among equal teams
// the one that has waited longest.
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

// places gives every remaining waiter its position for the limit that will hold it up longest, in the order in which turns would come
// if everything had capacity.
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
		t := Turn{Place: 1 + ahead[b], For: limit.Text()}
		ends := l.ends[b]
		if k := len(ends) - limit.Most + ahead[b]; k < len(ends) { // so many others have to go as well
			t.ETA = ends[k]
		}
		if turn.Place == 0 || cmp.Or(laterUnknown(t.ETA, turn.ETA), cmp.Compare(t.Place, turn.Place)) > 0 {
			turn = t
		}
	}
	return turn
}

// laterUnknown compares times; an unknown time is later than any other.
func laterUnknown(a, b time.Time) int {
	switch {
	case a.IsZero() == b.IsZero():
		return a.Compare(b)
	case a.IsZero():
		return 1
	}
	return -1
}
