package api

import (
	"container/list"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rate bounds how often one principal may ask.
type Rate struct {
	PerSecond float64 // zero: 20; below zero: no bound
	Burst     int     // zero: 60
}

// mostPaced is how many principals are remembered; who asked longest ago is forgotten first.
const mostPaced = 10_000

// Pace is a bucket of tokens for each of the principals that asked last. Safe for concurrent use.
type Pace struct {
	Rate
	now func() time.Time

	guard   sync.Mutex
	buckets map[string]*list.Element
	recent  *list.List // of *bucket, newest in front
}

type bucket struct {
	who     string
	limiter *rate.Limiter
}

// NewPace returns one in which nobody asked yet. now may be nil.
func NewPace(r Rate, now func() time.Time) *Pace {
	if now == nil {
		now = time.Now
	}
	if r.PerSecond == 0 {
		r.PerSecond = 20
	}
	if r.Burst <= 0 {
		r.Burst = 60
	}
	return &Pace{Rate: r, now: now, buckets: map[string]*list.Element{}, recent: list.New()}
}

// Take counts one request of who; above zero is how long to wait before the next has a chance.
func (p *Pace) Take(who string) time.Duration {
	if p.PerSecond < 0 {
		return 0
	}
	now := p.now()
	taken := p.bucket(who).ReserveN(now, 1)
	wait := taken.DelayFrom(now)
	if wait > 0 {
		taken.CancelAt(now) // who is refused has not used anything up
	}
	return wait
}

func (p *Pace) bucket(who string) *rate.Limiter {
	p.guard.Lock()
	defer p.guard.Unlock()
	if known, ok := p.buckets[who]; ok {
		p.recent.MoveToFront(known)
		return known.Value.(*bucket).limiter
	}
	if p.recent.Len() >= mostPaced {
		oldest := p.recent.Back()
		delete(p.buckets, p.recent.Remove(oldest).(*bucket).who)
	}
	fresh := &bucket{who: who, limiter: rate.NewLimiter(rate.Limit(p.PerSecond), p.Burst)}
	p.buckets[who] = p.recent.PushFront(fresh)
	return fresh.limiter
}

// tooMany answers who asks too often.
func tooMany(w http.ResponseWriter, wait time.Duration) {
	seconds := max(1, int(math.Ceil(wait.Seconds())))
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	problem(w, http.StatusTooManyRequests, fmt.Sprintf("You ask too often. Wait %d s; to follow clusters, GET /api/v1/watch tells each change without asking again.", seconds))
}

func host(address string) string {
	if h, _, err := net.SplitHostPort(address); err == nil {
		return h
	}
	return address
}
