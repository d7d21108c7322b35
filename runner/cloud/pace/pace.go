// Package pace limits, counts and slows down the calls of a scan through a cloud account: other programs need the account's rate too. Each
// service in each region has a rate of its own.
package pace

import (
	"context"
	"sync"

	"golang.org/x/time/rate"
)

const (
	// Slowest is the lowest rate, in calls per second, to which throttling slows a service in a region.
	Slowest = 0.5
	// recovery is by how much each answered call raises a lowered rate.
	recovery = 1.05
)

// Pace is safe for concurrent use.
type Pace struct {
	perSecond int
	most      map[string]int

	mu     sync.Mutex
	lanes  map[place]*Lane
	slowed int
}

type place struct{ region, service string }

// Lane is one service in one region.
type Lane struct {
	pace    *Pace
	limiter *rate.Limiter
	most    rate.Limit
	calls   int
}

// New allows so many calls per second in each service and region, and fewer in the services that most names.
func New(perSecond int, most map[string]int) *Pace {
	return &Pace{perSecond: perSecond, most: most, lanes: map[place]*Lane{}}
}

// Lane returns the lane of a service in a region.
func (p *Pace) Lane(region, service string) *Lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := place{region, service}
	if p.lanes[at] == nil {
		perSecond := p.perSecond
		if limit, ok := p.most[service]; ok {
			perSecond = min(perSecond, limit)
		}
		p.lanes[at] = &Lane{pace: p, most: rate.Limit(perSecond), limiter: rate.NewLimiter(rate.Limit(perSecond), 1)}
	}
	return p.lanes[at]
}

// Wait waits until the next call may be made.
func (l *Lane) Wait(ctx context.Context) error { return l.limiter.Wait(ctx) }

// Rate returns how many calls a second are allowed now.
func (l *Lane) Rate() float64 { return float64(l.limiter.Limit()) }

// Note counts a call, halves the rate of a lane that was throttled, and raises it again slowly.
func (l *Lane) Note(throttled bool) {
	l.pace.mu.Lock()
	defer l.pace.mu.Unlock()
	l.calls++
	now := l.limiter.Limit()
	switch {
	case throttled:
		l.pace.slowed++
		l.limiter.SetLimit(max(now/2, Slowest))
	case now < l.most:
		l.limiter.SetLimit(min(now*recovery, l.most))
	}
}

// Calls returns how many calls were made, by service.
func (p *Pace) Calls() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]int{}
	for at, l := range p.lanes {
		all[at.service] += l.calls
	}
	return all
}

// CallsIn returns how many calls of a service were made in a region; in an empty one: in all.
func (p *Pace) CallsIn(region, service string) (calls int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, l := range p.lanes {
		if at.service == service && (region == "" || at.region == region) {
			calls += l.calls
		}
	}
	return calls
}

// Slowed returns how many calls the cloud throttled.
func (p *Pace) Slowed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slowed
}
