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
	Allowed   int    // calls an hour
	Remaining int
	ResetsAt  time.Time
}

const (
	defaultReserve = 20 // percent
	// endShare is the part of the reserve that only calls that may end a cluster use.
	endShare = 4
	// slowBelow is the part of the limit below which what is shown is spread over the time until the reset.
	slowBelow = 2
	// budgetEvery is the least time between two reports of the same budget.
	budgetEvery = 10 * time.Second
	// slowest is the longest time that a write waits for its turn before it asks again.
	slowest = time.Minute

	// GitHub takes so many points a minute, and counts one for a read and five for a write.
	defaultPoints = 900
	pointsOfWrite = 5
)

// budgetOf reads the budget that an answer reports; ok is false where it reports none.
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

// reserve is how many calls of the budget are kept for decisions.
func (b Budget) reserve(percent int) int { return b.Allowed * percent / 100 }

// least is how many calls must be left for a call of a rank to be made.
func (b Budget) least(r rank, percent int) int {
	switch r {
	case rankShow:
		return b.reserve(percent)
	case rankDecide:
		return b.reserve(percent) / endShare
	}
	return 0
}

// gap is the time between two writes that lets the calls above the reserve last until the reset; zero: there are enough.
func (b Budget) gap(percent int, now time.Time) time.Duration {
	left := b.Remaining - b.reserve(percent)
	if b.Remaining >= b.Allowed/slowBelow || left <= 0 || !b.ResetsAt.After(now) {
		return 0
	}
	return b.ResetsAt.Sub(now) / time.Duration(left)
}

// note keeps the budget that an answer reports, and says whether it is time to hand it on, and for how long writes wait from now
// on because only the reserve is left; zero: they do not, or that was said.
func (l *limits) note(b Budget) (report bool, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	before, known := l.budgets[b.Resource]
	l.budgets[b.Resource] = b
	low := b.Remaining <= b.reserve(l.reserve)
	if low && b.Resource == rest && !b.ResetsAt.Equal(l.kept) && b.ResetsAt.After(now) {
		l.kept, wait = b.ResetsAt, min(b.ResetsAt.Sub(now), longPause)
	}
	crossed := known && (before.Remaining <= before.reserve(l.reserve)) != low
	if last, told := l.reported[b.Resource]; told && now.Sub(last) < budgetEvery && !crossed {
		return false, wait
	}
	l.reported[b.Resource] = now
	return true, wait
}

// reserved says how long a call of a rank has to wait because what is left is reserved for higher ranks; zero: it may be made.
func (l *limits) reserved(resource string, r rank) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if r == rankShow && l.perMinute > 0 && l.points(now) >= l.perMinute*(100-l.reserve)/100 {
		return l.spent[0].at.Add(time.Minute).Sub(now)
	}
	b, known := l.budgets[resource]
	if !known || !b.ResetsAt.After(now) || b.Remaining > b.least(r, l.reserve) {
		return 0
	}
	return min(b.ResetsAt.Sub(now), longPause)
}

// slow says how long a write has to wait so that what is left above the reserve lasts until the reset. Zero: it is its turn,
// and the next one's comes a gap later. Those that wait are told to come one after another: hundreds would else ask all the time.
func (l *limits) slow() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	gap := l.budgets[rest].gap(l.reserve, now)
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

// point is what one call counted of the secondary limit.
type point struct {
	at time.Time
	n  int
}

// points are those of the last minute. Called with l.mu held.
func (l *limits) points(now time.Time) (sum int) {
	for len(l.spent) > 0 && now.Sub(l.spent[0].at) >= time.Minute {
		l.spent = l.spent[1:]
	}
	for _, p := range l.spent {
		sum += p.n
	}
	return sum
}

// spend counts a call.
func (l *limits) spend(write bool) {
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
