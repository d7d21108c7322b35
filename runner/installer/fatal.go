package installer

import (
	"strings"
	"time"
)

// Watch looks for lines an install does not get past: the installer goes on trying for a quarter of an hour what a limit
// or a permission refuses for good. It knows the classes that failures.yaml calls fatal. It belongs to one goroutine.
type Watch struct {
	times int
	over  time.Duration
	seen  map[string]sighting // by reason
	stood bool                // the machines run: nothing refused to the controllers keeps them from becoming a cluster any more
}

// sighting is how often a class was seen since the install last got further.
type sighting struct {
	times int
	first time.Time
}

// NewWatch returns a Watch that speaks once a class was seen that many times over at least that long.
func NewWatch(times int, over time.Duration) *Watch {
	return &Watch{times: times, over: over, seen: map[string]sighting{}}
}

// Line takes a line heard at a moment. It returns a failure, true when the install should be stopped for it. A line that
// tells of progress begins the count anew: whatever was refused before, the install got past it. Once the machines run it
// never speaks again, for what is left to do is the cluster's own.
func (w *Watch) Line(at time.Time, line string) (Failure, bool) {
	if p, ok := ReadProgress(line); ok {
		clear(w.seen)
		w.stood = w.stood || p.Moment != ""
		return Failure{}, false
	}
	if w.stood {
		return Failure{}, false
	}
	lower := strings.ToLower(line)
	for _, c := range classes() {
		if c.Fatal == "" || !c.matches(line, lower) {
			continue
		}
		s := w.seen[c.Reason]
		if s.times++; s.times == 1 {
			s.first = at
		}
		w.seen[c.Reason] = s
		return Failure{Class: c, Line: Message(line)}, s.times >= w.times && at.Sub(s.first) >= w.over
	}
	return Failure{}, false
}
