package github

import (
	"net/http"
	"strconv"
	"time"
)

// Budget is what GitHub reports as left of an installation's primary rate limit.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#checking-the-status-of-your-rate-limit
type Budget struct {
	Resource  string // core or graphql
	Allowed   int    // calls per hour
	Remaining int
	ResetsAt  time.Time
}

const (
	defaultReserve = 20 // percent
	// endShare is the part of the reserve (one in endShare) that only calls that may end a cluster use.
	endShare = 4
	// slowBelow is the part of the limit (one in slowBelow) below which display writes are spread over the time until the reset.
	slowBelow = 2
	// budgetEvery is the minimum time between two reports of the same budget.
	budgetEvery = 10 * time.Second
	// slowest is the longest time that a write waits before it asks again.
	slowest = time.Minute

	// GitHub's limit in points per minute; a read counts one and a write five.
	defaultPoints = 900
	pointsOfWrite = 5
)

// budgetOf reads the budget that a response reports; ok is false if it reports none.
func budgetOf(resource string, h http.Header) (b Budget, ok bool) {
	allowed, err := strconv.Atoi(h.Get("X-Ratelimit-Limit"))
	if err != nil || allowed <= 0 {
		return Budget{}, false
	}
	remaining, err := strconv.Atoi(h.Get("X-Ratelimit-Remaining"))
	if err != nil {
		return Budget{}, false
	}
	at, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64)
	return Budget{Resource: resource, Allowed: allowed, Remaining: max(remaining, 0), ResetsAt: time.Unix(at, 0)}, err == nil
}

// callsInReserve returns how many calls of the budget are kept for decisions.
func (b Budget) callsInReserve(percent int) int { return b.Allowed * percent / 100 }

// leastFor returns how many calls must be left so that a call of a rank may be made.
func (b Budget) leastFor(r rank, percent int) int {
	switch r {
	case rankShow:
		return b.callsInReserve(percent)
	case rankDecide:
		return b.callsInReserve(percent) / endShare
	}
	return 0
}

// writeGap returns the time between two writes that makes the calls above the reserve last until the reset; zero: there are enough.
func (b Budget) writeGap(percent int, now time.Time) time.Duration {
	left := b.Remaining - b.callsInReserve(percent)
	if b.Remaining >= b.Allowed/slowBelow || left <= 0 || !b.ResetsAt.After(now) {
		return 0
	}
	return b.ResetsAt.Sub(now) / time.Duration(left)
}

// storeBudget stores the budget that a response reports. report says whether to pass it on now; wait is how long writes must wait because
// only the reserve is left, zero if they need not or if that was reported before.
func (l *limits) storeBudget(b Budget) (report bool, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	before, known := l.budgets[b.Resource]
	l.budgets[b.Resource] = b
	low := b.Remaining <= b.callsInReserve(l.reserve)
	if low && b.Resource == rest && !b.ResetsAt.Equal(l.kept) && b.ResetsAt.After(now) {
		l.kept, wait = b.ResetsAt, min(b.ResetsAt.Sub(now), longPause)
	}
	crossed := known && (before.Remaining <= before.callsInReserve(l.reserve)) != low
	if last, got := l.reported[b.Resource]; got && now.Sub(last) < budgetEvery && !crossed {
		return false, wait
	}
	l.reported[b.Resource] = now
	return true, wait
}

// waitForReserve returns how long a call of a rank has to wait because the rest is reserved for higher ranks; zero: it may be made.
func (l *limits) waitForReserve(resource string, r rank) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if r == rankShow && l.perMinute > 0 && l.countPoints(now) >= l.perMinute*(100-l.reserve)/100 {
		return l.spent[0].at.Add(time.Minute).Sub(now)
	}
	b, known := l.budgets[resource]
	if !known || !b.ResetsAt.After(now) || b.Remaining > b.leastFor(r, l.reserve) {
		return 0
	}
	return min(b.ResetsAt.Sub(now), longPause)
}

// writeDelay returns how long a write has to wait so that the calls above the reserve last until the reset. Zero: it may go now, and the
// next one a gap later. Waiting writes get consecutive times, because otherwise hundreds would ask again all the time.
func (l *limits) writeDelay() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	gap := l.budgets[rest].writeGap(l.reserve, now)
	if gap == 0 || !now.Before(l.written.Add(gap)) {
		l.written = now
		return 0
	}
	if l.slot.Before(l.written) {
		l.slot = l.written
	}
	if latest := now.Add(slowest); l.slot.Add(gap).Before(latest) {
		l.slot = l.slot.Add(gap)
	} else {
		l.slot = latest
	}
	return l.slot.Sub(now)
}

// point is what one call counted towards the secondary limit.
type point struct {
	at time.Time
	n  int
}

// countPoints returns the points of the last minute. Called with l.mu held.
func (l *limits) countPoints(now time.Time) (sum int) {
	for len(l.spent) > 0 && now.Sub(l.spent[0].at) >= time.Minute {
		l.spent = l.spent[1:]
	}
	for _, p := range l.spent {
		sum += p.n
	}
	return sum
}

// countCall counts a call.
func (l *limits) countCall(write bool) {
	if l.perMinute <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 1
	if write {
		n = pointsOfWrite
	}
	l.spent = append(l.spent, point{l.now(), n})
}
