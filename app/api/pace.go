package api

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/ocpctl/ocpctl/internal/limit"
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
	buckets *limit.Buckets // nil: no bound
}

// NewPace returns one in which nobody asked yet. now may be nil.
func NewPace(r Rate, now func() time.Time) *Pace {
	if r.PerSecond == 0 {
		r.PerSecond = 20
	}
	if r.Burst <= 0 {
		r.Burst = 60
	}
	if r.PerSecond < 0 {
		return &Pace{}
	}
	return &Pace{limit.NewBuckets(r.PerSecond, r.Burst, mostPaced, now)}
}

// Take counts one request of who; above zero is how long to wait before the next has a chance.
func (p *Pace) Take(who string) time.Duration {
	if p.buckets == nil {
		return 0
	}
	return p.buckets.Take(who)
}

// tooMany answers who asks too often.
func tooMany(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", retryAfter(wait))
	problem(w, http.StatusTooManyRequests, fmt.Sprintf("Too many requests. Wait %s s. To follow clusters without polling, use GET /api/v1/watch.", retryAfter(wait)))
}

// retryAfter writes a wait as the header does: in whole seconds, and at least one.
func retryAfter(wait time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(wait.Seconds()))))
}
