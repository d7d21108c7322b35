package lifecycle

import (
	"cmp"
	"slices"
	"time"
)

// claim is one that waits, for a full quota or for a free runner.
type claim struct {
	cluster, team string
	weight        int // the team's share
	since         time.Time
	limits        []Limit // it may begin when each has a free place
	uses          []use   // where it counts once it began
	unapproved    bool    // it takes its place but does not begin
	idle          bool    // it may begin and does not, so it holds up nobody
}

// use is one counter in which something counts.
type use struct {
	bound
	until time.Time // when it may stop counting; zero: unknown
}

// tally holds the counters while places are given.
type tally struct {
	ends  map[bound][]time.Time // for each counter, when what counts may stop counting; zero: unknown. Nil: no limit needs it
	teams map[string]int        // what counts for each team
}

func newTally(waiting []claim) *tally {
	l := &tally{ends: map[bound][]time.Time{}, teams: map[string]int{}}
	for _, c := range waiting {
		for _, limit := range c.limits {
			l.ends[limit.toBound()] = []time.Time{}
		}
	}
	return l
}

func (l *tally) count(team string, uses []use) {
	l.teams[team]++
	for _, u := range uses {
		if counted := l.ends[u.bound]; counted != nil {
			l.ends[u.bound] = append(counted, u.until)
		}
	}
}

// grant gives a place to everybody whose limits all have one, and returns who got one and who did not. No limit is ever exceeded.
// The team that has the fewest relative to its weight comes first; within a team it is first come, first served. One with a full
// limit holds up only those who need the same limit.
func (l *tally) grant(waiting []claim) (granted []string, left []claim) {
	for queues := queue(waiting); len(queues) > 0; {
		queues, left = l.setAside(queues, left)
		if len(queues) == 0 {
			break
		}
		i := l.next(queues)
		c := queues[i][0]
		if !c.idle {
			l.count(c.team, c.uses)
		}
		if !c.unapproved {
			granted = append(granted, c.cluster)
		}
		queues = pop(queues, i)
	}
	return granted, left
}

// queue makes a queue for each team, in the order of arrival.
func queue(waiting []claim) (queues [][]claim) {
	waiting = slices.Clone(waiting)
	slices.SortFunc(waiting, earlier)
	of := map[string]int{}
	for _, c := range waiting {
		i, ok := of[c.team]
		if !ok {
			i = len(queues)
			of[c.team], queues = i, append(queues, nil)
		}
		queues[i] = append(queues[i], c)
	}
	return queues
}

func earlier(a, b claim) int {
	return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.cluster, b.cluster))
}

// pop removes the first entry of a queue, and the queue itself when that was its last.
func pop(queues [][]claim, i int) [][]claim {
	if queues[i] = queues[i][1:]; len(queues[i]) == 0 {
		return slices.Delete(queues, i, i+1)
	}
	return queues
}

func (l *tally) full(limit Limit) bool { return len(l.ends[limit.toBound()]) >= limit.Most }

// setAside removes those who get no place now from the heads of the queues. A full limit stays full while places are given, so
// nobody has to be checked twice.
func (l *tally) setAside(queues [][]claim, left []claim) (rest [][]claim, more []claim) {
	for _, q := range queues {
		for len(q) > 0 && slices.ContainsFunc(q[0].limits, l.full) {
			left, q = append(left, q[0]), q[1:]
		}
		if len(q) > 0 {
			rest = append(rest, q)
		}
	}
	return rest, left
}

// next returns the queue whose head comes first: the team that has the fewest relative to its weight, and among equal teams the one
// that has waited longest.
func (l *tally) next(queues [][]claim) int {
	first := 0
	for i := range queues {
		a, b := queues[i][0], queues[first][0]
		if order := cmp.Compare(l.teams[a.team]*max(b.weight, 1), l.teams[b.team]*max(a.weight, 1)); order < 0 || order == 0 && earlier(a, b) < 0 {
			first = i
		}
	}
	return first
}

// place gives every remaining one its position for the limit that will hold it up longest, in the order in which places would come
// if everything had capacity. Each list in left comes behind all of those before it.
func (l *tally) place(places map[string]Turn, left ...[]claim) {
	for _, ends := range l.ends {
		slices.SortFunc(ends, laterUnknown)
	}
	ahead := map[bound]int{}
	for _, waiting := range left {
		for queues := queue(waiting); len(queues) > 0; {
			i := l.next(queues)
			c := queues[i][0]
			places[c.cluster] = l.turn(c, ahead)
			for _, u := range c.uses {
				ahead[u.bound]++
			}
			l.teams[c.team]++
			queues = pop(queues, i)
		}
	}
}

func (l *tally) turn(c claim, ahead map[bound]int) Turn {
	var turn Turn
	var by Limit
	for _, limit := range c.limits {
		if !l.full(limit) {
			continue
		}
		b := limit.toBound()
		t := Turn{Position: 1 + ahead[b]}
		ends := l.ends[b]
		if k := len(ends) - limit.Most + ahead[b]; k < len(ends) { // so many others have to go as well
			t.ETA = ends[k]
		}
		if turn.Position == 0 || cmp.Or(laterUnknown(t.ETA, turn.ETA), cmp.Compare(t.Position, turn.Position)) > 0 {
			turn, by = t, limit
		}
	}
	turn.For = by.Text()
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
