package ibmcloud

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The values for Refuse besides IBM's own codes, which it answers with status 400.
const (
	Denied  = "Denied"  // status 403: the caller has no role that allows it
	Expired = "Expired" // status 401: the token is not valid any more
	Broken  = "Broken"  // status 500
	Lost    = "Lost"    // the call is executed, and its answer is status 500
)

// faults are the faults that a test set, by the name of a call.
type faults struct {
	fails     map[string]*fail
	throttles map[string]*throttle
	delays    map[string]time.Duration
	pages     int // maximum length of a page; 0: as requested
}

// fail is an answer that replaces the service's own.
type fail struct {
	times int // remaining; negative: until lifted
	code  string
	raw   *answer // as given; nil: the service's own form of the code
}

type answer struct {
	status int
	body   string
}

type throttle struct{ first, every, seen int }

// hits counts a call and reports whether it is throttled.
func (t *throttle) hits() bool {
	t.seen++
	return t.seen <= t.first || (t.every > 0 && t.seen%t.every == 0)
}

func newFaults() faults {
	return faults{fails: map[string]*fail{}, throttles: map[string]*throttle{}, delays: map[string]time.Duration{}}
}

// Count is the number of calls of one name, by result.
type Count struct {
	Calls     int  `json:"calls"`
	Throttled int  `json:"throttled,omitempty"` // by a set fault
	Refused   int  `json:"refused,omitempty"`   // by a set fault or by the service's rules
	Write     bool `json:"write,omitempty"`
}

// trouble is what the set faults do to one call.
type trouble struct {
	err   error
	raw   *answer
	lost  bool
	delay time.Duration
}

// troubleFor counts the call and consumes one throttling or failure if one is set for it.
func (s *Server) troubleFor(c *call) (t trouble) {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := s.count(c)
	count.Calls++
	names := []string{c.op, strings.TrimPrefix(c.op, c.service+":"), c.service + ":*", "*"}
	if c.region != "" {
		names = append(names, c.region+"/"+c.op, c.region+"/*")
	}
	slow := false
	for _, name := range names {
		t.delay = max(t.delay, s.faults.delays[name])
		if th := s.faults.throttles[name]; th != nil {
			slow = th.hits() || slow
		}
	}
	if slow {
		count.Throttled++
		t.err = refuse(http.StatusTooManyRequests, "too_many_requests", "Too many requests. Try again later.")
		return t
	}
	for _, name := range names {
		f := s.faults.fails[name]
		if f == nil || f.times == 0 {
			continue
		}
		f.times = max(f.times-1, -1)
		count.Refused++
		t.raw, t.lost = f.raw, f.code == Lost
		if f.raw == nil && !t.lost {
			t.err = refused(f.code, c)
		}
		return t
	}
	return t
}

func refused(code string, c *call) error {
	switch code {
	case Denied:
		return c.denied()
	case Expired:
		return refuse(http.StatusUnauthorized, "invalid_token", "The provided token is expired or not valid.")
	case Broken:
		return refuse(http.StatusInternalServerError, "internal_error", "An internal error occurred. Try again later.")
	}
	return refuse(http.StatusBadRequest, code, "The request was refused: %s.", code)
}

// count returns the call's counter. The server's mutex is held.
func (s *Server) count(c *call) *Count {
	if s.counts[c.op] == nil {
		s.counts[c.op] = &Count{Write: !c.reads()}
	}
	return s.counts[c.op]
}

// Calls returns the counts since the start, by name: "vpc:list_vpcs". Unknown paths are not counted.
func (s *Server) Calls() map[string]Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Count{}
	for name, count := range s.counts {
		out[name] = *count
	}
	return out
}

// Refuse makes the next calls of a name ("vpc:delete_vpc", "delete_vpc", "vpc:*", "eu-de/vpc:list_vpcs", "eu-de/*", "*") fail with the
// code; empty: Denied. times -1: until lifted.
func (s *Server) Refuse(call string, times int, code string) {
	if code == "" {
		code = Denied
	}
	s.set(call, &fail{times: times, code: code})
}

// Fail answers the next calls of a name with a status and a body as given, without executing them. times -1: until lifted.
func (s *Server) Fail(call string, times, status int, body string) {
	s.set(call, &fail{times: times, code: fmt.Sprint("status ", status), raw: &answer{status, body}})
}

func (s *Server) set(call string, f *fail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.fails[call] = f
}

// Lift ends Refuse and Fail.
func (s *Server) Lift(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.faults.fails, call)
}

// Throttle makes the first calls of a name ("*": of all together), and then every every-th, fail with status 429 and the header
// Retry-After of the configuration. 0, 0 ends it.
func (s *Server) Throttle(call string, first, every int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.faults.throttles, call)
	if first > 0 || every > 0 {
		s.faults.throttles[call] = &throttle{first: first, every: every}
	}
}

// Delay makes every call of a name ("*": all) take that much longer; 0 ends it.
func (s *Server) Delay(call string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.delays[call] = d
}

// Pages limits the length of all pages, whatever was requested. 0 ends it.
func (s *Server) Pages(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.pages = most
}

// Faults returns the set faults for the demo's page: call → code, or the delay.
func (s *Server) Faults() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for call, d := range s.faults.delays {
		if d > 0 {
			out[call] = d.String()
		}
	}
	for call, t := range s.faults.throttles {
		out[call] = fmt.Sprintf("throttled: the first %d, then every %d", t.first, t.every)
	}
	for call, f := range s.faults.fails {
		if f.times != 0 {
			out[call] = strings.TrimPrefix(out[call]+", "+f.code, ", ")
		}
	}
	if s.faults.pages > 0 {
		out["pages"] = fmt.Sprint(s.faults.pages)
	}
	if s.world.lag != (Lag{}) {
		out["lag"] = s.world.lag.String()
	}
	for name, limit := range s.world.Limits {
		out[name] = fmt.Sprintf("limit %d", limit)
	}
	for _, id := range slices.Sorted(maps.Keys(s.world.Pinned)) {
		out[id] = "pinned"
	}
	return out
}
