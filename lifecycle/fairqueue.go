package lifecycle

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// claim is one that waits, for a full quota or for a free runner.
type claim struct {
	cluster, team string
	weight        int   // the team's share
	priority      int   // the higher one comes first
	used          int64 // what its team used lately
	since         time.Time
	limits        []Limit // it may begin when each has a free place
	uses          []use   // where it counts once it began
	unapproved    bool    // it takes its place but does not begin
	idle          bool    // it may begin and does not, so it holds up nobody
	cohort        *Limit  // that of its cohort among the limits; nil: it has none
}

// use is one counter in which something counts.
type use struct {
	bound
	until time.Time // when it may stop counting; zero: unknown
}

// tally holds the counters while places are given.
type tally struct {
	ends  map[bound][]time.Time  // for each counter, when what counts may stop counting; zero: unknown. Nil: no limit needs it
	mosts map[bound]map[int]bool // how many each counter's limits allow
	teams map[string]int         // what counts for each team
	peers map[string]bound       // the counter of each team's cohort; nil: nobody who waits has one
	ahead map[bound]int          // while positions are given: how many stand before the next in each counter
	least map[bound]claim        // likewise: who of those that need each counter is of the team that used least lately
}

func newTally(waiting []claim) *tally {
	l := &tally{ends: map[bound][]time.Time{}, mosts: map[bound]map[int]bool{}, teams: map[string]int{}}
	for _, c := range waiting {
		for _, limit := range c.limits {
			b := limit.toBound()
			if l.mosts[b] == nil {
				l.ends[b], l.mosts[b] = []time.Time{}, map[int]bool{}
			}
			l.mosts[b][limit.Most] = true
		}
	}
	for _, c := range waiting {
		l.countCohort(c.cohort)
	}
	return l
}

// count adds one to its counters, and reports whether a limit became full.
func (l *tally) count(team string, uses []use) (filled bool) {
	l.teams[team]++
	for _, u := range l.withCohort(uses) {
		if counted := l.ends[u.bound]; counted != nil {
			l.ends[u.bound] = append(counted, u.until)
			filled = filled || l.mosts[u.bound][len(counted)+1]
		}
	}
	return filled
}

// grant gives a place to everybody whose limits all have one, and returns who got one and who did not. No limit is ever exceeded.
// Who borrows from a cohort comes last; then the highest priority comes first; among equals the team that has the fewest relative to its weight, then
// the one that used less lately; within a team it is first come, first served. One with a full limit holds up only those who need the same limit.
func (l *tally) grant(waiting []claim) (granted []string, left []claim) {
	h := l.newFairHeap(nil)
	h.queues, left = l.setAside(queue(waiting), left)
	for heap.Init(h); h.Len() > 0; {
		c, filled := h.queues[0][0], false
		if !c.idle {
			filled = l.count(c.team, c.uses)
		}
		if !c.unapproved {
			granted = append(granted, c.cluster)
		}
		if h.queues[0] = h.queues[0][1:]; filled {
			h.queues, left = l.setAside(h.queues, left)
			heap.Init(h)
			continue
		}
		h.queues[0], left = l.dropFull(h.queues[0], left)
		h.moveFirst()
	}
	return granted, left
}

// queue makes a queue for each team, by priority and in the order of arrival.
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
	return cmp.Or(cmp.Compare(b.priority, a.priority), a.since.Compare(b.since), cmp.Compare(a.cluster, b.cluster))
}

// hasUsedLess reports that its team used less lately than the other's, relative to their weights.
func (c claim) hasUsedLess(other claim) bool { return c.compareUsed(other) < 0 }

func (c claim) compareUsed(other claim) int {
	return cmp.Compare(c.used*int64(max(other.weight, 1)), other.used*int64(max(c.weight, 1)))
}

func (l *tally) full(limit Limit) bool { return len(l.ends[limit.toBound()]) >= limit.Most }

// setAside removes those who get no place now from the heads of the queues. A full limit stays full while places are given, so
// nobody has to be checked twice.
func (l *tally) setAside(queues [][]claim, left []claim) (rest [][]claim, more []claim) {
	for _, q := range queues {
		if q, left = l.dropFull(q, left); len(q) > 0 {
			rest = append(rest, q)
		}
	}
	return rest, left
}

func (l *tally) dropFull(q, left []claim) (rest, more []claim) {
	for len(q) > 0 && slices.ContainsFunc(q[0].limits, l.full) {
		left, q = append(left, q[0]), q[1:]
	}
	return q, left
}

// fairHeap has the queue first whose head comes first: a team within its quota, then the highest priority, then the team that has the fewest relative
// to its weight, then the one that used less lately, and among equal teams the one that has waited longest. Only what counts for the first one's team may change before moveFirst.
type fairHeap struct {
	*tally
	queues [][]claim
}

func (l *tally) newFairHeap(queues [][]claim) *fairHeap {
	h := &fairHeap{l, queues}
	heap.Init(h)
	return h
}

// moveFirst puts the first queue into its place after its head left or its team got more; an empty one is removed.
func (h *fairHeap) moveFirst() {
	if len(h.queues[0]) == 0 {
		heap.Pop(h)
		return
	}
	heap.Fix(h, 0)
}

// Len implements heap.Interface.
func (h *fairHeap) Len() int { return len(h.queues) }

// Less implements heap.Interface.
func (h *fairHeap) Less(i, j int) bool {
	a, b := h.queues[i][0], h.queues[j][0]
	if a.cohort != nil || b.cohort != nil {
		if borrows := h.isBorrowing(a); borrows != h.isBorrowing(b) {
			return !borrows
		}
	}
	order := cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(h.teams[a.team]*max(b.weight, 1), h.teams[b.team]*max(a.weight, 1)), a.compareUsed(b))
	return order < 0 || order == 0 && earlier(a, b) < 0
}

// Swap implements heap.Interface.
func (h *fairHeap) Swap(i, j int) { h.queues[i], h.queues[j] = h.queues[j], h.queues[i] }

// Push implements heap.Interface.
func (h *fairHeap) Push(q any) { h.queues = append(h.queues, q.([]claim)) }

// Pop implements heap.Interface.
func (h *fairHeap) Pop() any {
	last := len(h.queues) - 1
	q := h.queues[last]
	h.queues = h.queues[:last]
	return q
}

// place gives every remaining one its position for the limit that will hold it up longest, in the order in which places would come
// if everything had capacity. Each list in left comes behind all of those before it.
func (l *tally) place(places map[string]Turn, left ...[]claim) {
	for _, ends := range l.ends {
		slices.SortFunc(ends, laterUnknown)
	}
	l.ahead, l.least = map[bound]int{}, findLeast(slices.Concat(left...))
	for _, waiting := range left {
		for h := l.newFairHeap(queue(waiting)); h.Len() > 0; h.moveFirst() {
			c := h.queues[0][0]
			places[c.cluster] = l.turn(c)
			for _, u := range l.withCohort(c.uses) {
				l.ahead[u.bound]++
			}
			l.teams[c.team]++
			h.queues[0] = h.queues[0][1:]
		}
	}
}

// findLeast returns for each counter who of those that need it is of the team that used least lately.
func findLeast(waiting []claim) map[bound]claim {
	least := map[bound]claim{}
	for _, c := range waiting {
		for _, limit := range c.limits {
			b := limit.toBound()
			if other, known := least[b]; c.team != "" && (!known || c.hasUsedLess(other)) {
				least[b] = c
			}
		}
	}
	return least
}

func (l *tally) turn(c claim) Turn {
	var turn Turn
	var by Limit
	for _, limit := range c.limits {
		if !l.full(limit) {
			continue
		}
		b := limit.toBound()
		t := Turn{Position: 1 + l.ahead[b]}
		ends := l.ends[b]
		if k := len(ends) - limit.Most + l.ahead[b]; k < len(ends) { // so many others have to go as well
			t.ETA = ends[k]
		}
		if turn.Position == 0 || cmp.Or(laterUnknown(t.ETA, turn.ETA), cmp.Compare(t.Position, turn.Position)) > 0 {
			turn, by = t, limit
		}
	}
	turn.For = by.Text()
	if by.Scope == ScopeCohort && !l.isBorrowing(c) {
		turn.For += l.nameBorrowers(c)
	}
	if least, known := l.least[by.toBound()]; known && c.team != "" && least.hasUsedLess(c) {
		turn.For += "; among equals, teams that used less lately come before team " + c.team
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
