package eventstream

import "sync"

const (
	// MostOfOne is how many streams one principal may have open at a time in this process: each runs a query at every change. Many
	// programs may share one principal, such as an AWS role.
	MostOfOne = 100
	// MostOfAll is how many streams a process has open at a time: each takes a connection and some 30 kB.
	MostOfAll = 4000
)

// Places counts the open streams by principal. Safe for concurrent use.
type Places struct {
	guard sync.Mutex
	taken map[string]int
	all   int
}

// Take takes a place for a stream, if there is one; leave gives it back.
func (p *Places) Take(who string) (leave func(), found bool) {
	p.guard.Lock()
	defer p.guard.Unlock()
	if p.taken[who] >= MostOfOne || p.all >= MostOfAll {
		return nil, false
	}
	if p.taken == nil {
		p.taken = map[string]int{}
	}
	p.taken[who]++
	p.all++
	return func() {
		p.guard.Lock()
		defer p.guard.Unlock()
		p.all--
		if p.taken[who]--; p.taken[who] == 0 {
			delete(p.taken, who)
		}
	}, true
}

// Taken returns how many streams are open.
func (p *Places) Taken() int {
	p.guard.Lock()
	defer p.guard.Unlock()
	return p.all
}
