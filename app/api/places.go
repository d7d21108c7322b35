package api

import (
	"net/http"
	"sync"
)

// mostStreams is how many streams one principal may have open at a time in this process: each is asked about at every change
// of what it shows. Many programs may share one principal, e.g. a role of AWS.
const mostStreams = 100

// places are the streams that are open, by principal. Safe for concurrent use.
type places struct {
	guard sync.Mutex
	taken map[string]int
}

// take finds a place for one more; leave gives it back.
func (p *places) take(who string) (leave func(), found bool) {
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

// tooManyStreams answers who has too many streams open.
func tooManyStreams(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "5")
	problem(w, http.StatusTooManyRequests, "Too many open streams. Close one, or watch several clusters with one stream: GET /api/v1/watch?cluster=a&cluster=b.")
}
