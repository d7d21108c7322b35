package slack

import "slices"

// Fault is how calls of one method go wrong.
type Fault struct {
	RetryAfter int    // seconds, above zero: answered 429
	Code       string // Slack's error, instead of doing it
	LoseAnswer bool   // it is done, and the line breaks before the answer
	Times      int    // so often; zero: once
}

// Break has the next calls of a method go wrong, after those it was broken for before.
func (s *Server) Break(method string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], slices.Repeat([]Fault{f}, max(f.Times, 1))...)
}

// fault takes the method's next one.
func (s *Server) fault(method string) (f Fault, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults[method]) == 0 {
		return Fault{}, false
	}
	f, s.faults[method] = s.faults[method][0], s.faults[method][1:]
	return f, true
}
