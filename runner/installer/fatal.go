package installer

import (
	"strings"
	"time"
)

// Watch detects errors that an install does not get past: the installer retries for a quarter of an hour what a limit or a permission
// refuses permanently. It knows the classes that failures.yaml marks as fatal. It belongs to one goroutine.
type Watch struct {
	times int
	over  time.Duration
	seen  map[string]sighting // by reason
	stood bool                // the machines run: what the controllers are refused no longer prevents the cluster
}

// sighting counts a class since the install's last progress.
type sighting struct {
	times int
	first time.Time
}

// NewWatch returns a Watch that reports a class once it was seen that many times over at least that time.
func NewWatch(times int, over time.Duration) *Watch {
	return &Watch{times: times, over: over, seen: map[string]sighting{}}
}

// Line processes a line seen at a time. It returns a failure and true if the install should be stopped. A line that shows progress
// resets the counts: the install got past whatever was refused before. Once the machines run it never reports again, because the rest
// is up to the cluster.
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
		if c.Fatal == "" || !c.matchesLine(line, lower) {
			continue
		}
		s := w.seen[c.Reason]
		if s.times++; s.times == 1 {
			s.first = at
		}
		w.seen[c.Reason] = s
		return newFailure(c, line), s.times >= w.times && at.Sub(s.first) >= w.over
	}
	return Failure{}, false
}
