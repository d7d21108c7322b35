package api

import (
	"net/http"
	"sync"
)

// mostStreams is how many streams one principal may have open at a time in this process: each runs a query at every change. Many
// programs may share one principal, such as an AWS role.
const mostStreams = 100

// places counts the open streams by principal. Safe for concurrent use.
type places struct {
	guard sync.Mutex
	taken map[string]int
}

// takePlace takes a place for a stream, if there is one; leave gives it back.
func (p *places) takePlace(who string) (leave func(), found bool) {
	p.guard.Lock()
	defer p.guard.Unlock()
	if p.taken[who] >= mostStreams {
		return nil, false
	}
	if p.taken == nil {
		p.taken = map[string]int{}
	}
	p.taken[who]++
	return func() {
		p.guard.Lock()
		defer p.guard.Unlock()
		if p.taken[who]--; p.taken[who] == 0 {
			delete(p.taken, who)
		}
	}, true
}

// tooManyStreams answers a principal with too many open streams.
func tooManyStreams(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "5")
	writeProblem(w, http.StatusTooManyRequests, "Too many open streams. Close one, or watch several clusters with one stream: GET /api/v1/watch?cluster=a&cluster=b.")
}
