package slack

import "slices"

// Fault is how calls of one method fail.
type Fault struct {
	RetryAfter int             // seconds, above zero: respond 429
	Code       string          // Slack's error, instead of executing the call
	LoseAnswer bool            // the call is executed, and the connection breaks before the response
	Hold       <-chan struct{} // the call waits until this is closed; nil: it does not wait
	Times      int             // number of calls; zero: one
}

// Break makes the next calls of a method fail, after those that earlier faults affect.
func (s *Server) Break(method string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], slices.Repeat([]Fault{f}, max(f.Times, 1))...)
}

// fault takes the method's next fault.
func (s *Server) fault(method string) (f Fault, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults[method]) == 0 {
		return Fault{}, false
	}
	f, s.faults[method] = s.faults[method][0], s.faults[method][1:]
	return f, true
}
