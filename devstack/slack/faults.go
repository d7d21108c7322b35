package slack

import (
	"math"
	"slices"
	"time"

	"golang.org/x/time/rate"
)

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

// burst is how many messages a channel takes at once. Slack says that short bursts are fine, and no number.
const burst = 4

// limiters are the token buckets of methods and channels, by name.
type limiters map[string]*rate.Limiter

// limited says for how many seconds a call must wait; 0: it need not. Under the lock.
func (s *Server) limited(method string, tier int, a args) int {
	if !s.cfg.Limits {
		return 0
	}
	name, per, most := method, rate.Limit(float64(tier)/60), tier
	if method == "chat.postMessage" { // one message a second and channel
		name, per, most = method+" "+a["channel"], 1, burst
	}
	if most == 0 {
		return 0
	}
	l := s.limiters[name]
	if l == nil {
		l = rate.NewLimiter(per, most)
		s.limiters[name] = l
	}
	now := s.cfg.Now()
	turn := l.ReserveN(now, 1)
	wait := turn.DelayFrom(now)
	if wait <= 0 {
		return 0
	}
	turn.CancelAt(now)
	return int(math.Ceil(float64(wait) / float64(time.Second)))
}
