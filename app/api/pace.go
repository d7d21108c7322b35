package api

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/ocpctl/ocpctl/internal/limit"
)

// Rate limits the requests of one principal.
type Rate struct {
	PerSecond float64 // zero: 20; negative: no limit
	Burst     int     // zero: 60
}

// mostPaced is how many principals are tracked; the one with the oldest request is dropped first.
const mostPaced = 10_000

// Pace is a token bucket for each of the most recent principals. Safe for concurrent use.
type Pace struct {
	buckets *limit.Buckets // nil: no limit
}

// NewPace returns a Pace without requests. now may be nil.
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

// Take counts one request of who and returns how long to wait, 0 if it may be made now.
func (p *Pace) Take(who string) time.Duration {
	if p.buckets == nil {
		return 0
	}
	return p.buckets.Take(who)
}

// tooMany answers a principal with too many requests.
func tooMany(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", retryAfter(wait))
	writeProblem(w, http.StatusTooManyRequests, fmt.Sprintf("Too many requests. Wait %s s. To follow clusters without polling, use GET /api/v1/watch.", retryAfter(wait)))
}

// retryAfter formats a wait for the header: in whole seconds, at least one.
func retryAfter(wait time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(wait.Seconds()))))
}
