package aws

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The values for Refuse besides AWS's codes.
const (
	Denied      = "Denied"       // no policy allows it: UnauthorizedOperation, AccessDenied or AccessDeniedException
	DeniedBySCP = "DeniedBySCP"  // the same, with an explicit deny in a service control policy
	Expired     = "ExpiredToken" // the credentials have expired: ExpiredToken, ExpiredTokenException or RequestExpired
)

// faults are the faults that a test set.
type faults struct {
	refusals  map[string]*refusal
	throttles map[string]*throttle
	delays    map[string]time.Duration
	pages     int // maximum length of a page; 0: as requested
}

type refusal struct {
	times int // remaining; negative: until lifted
	code  string
}

type throttle struct{ first, every, seen int }

// hits counts a call and reports whether it is throttled.
func (t *throttle) hits() bool {
	t.seen++
	return t.seen <= t.first || (t.every > 0 && t.seen%t.every == 0)
}

func newFaults() faults {
	return faults{refusals: map[string]*refusal{}, throttles: map[string]*throttle{}, delays: map[string]time.Duration{}}
}

// Count is the number of calls of one name, by result.
type Count struct {
	Calls     int  `json:"calls"`
	Throttled int  `json:"throttled,omitempty"` // by a set fault
	Refused   int  `json:"refused,omitempty"`   // by a set fault or by the service's rules
	Write     bool `json:"write,omitempty"`
}

// faultFor counts the call, consumes one throttling or refusal if one is set for it, and returns its delay.
func (s *Server) faultFor(c *call) (*Fault, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.world = s.world
	count := s.count(c)
	count.Calls++
	names := []string{c.action, c.service + ":" + c.action, "*"}
	if !global(c.service) {
		names = append(names, c.region+"/*", c.region+"/"+c.service+":"+c.action)
	}
	var delay time.Duration
	slow := false
	for _, name := range names {
		delay = max(delay, s.faults.delays[name])
		if t := s.faults.throttles[name]; t != nil {
			slow = t.hits() || slow
		}
	}
	if slow {
		count.Throttled++
		return c.throttled(), delay
	}
	for _, name := range names {
		r := s.faults.refusals[name]
		if r == nil || r.times == 0 {
			continue
		}
		r.times = max(r.times-1, -1)
		count.Refused++
		return c.refused(r.code), delay
	}
	return nil, delay
}

// count returns the call's counter. The server's mutex is held.
func (s *Server) count(c *call) *Count {
	name := c.service + ":" + c.action
	if s.counts[name] == nil {
		s.counts[name] = &Count{Write: !reads(c.action)}
	}
	return s.counts[name]
}

// Calls returns the counts since the start, by name: "ec2:DescribeVpcs". Calls with an unknown key and unknown calls are not counted.
func (s *Server) Calls() map[string]Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Count{}
	for name, count := range s.counts {
		out[name] = *count
	}
	return out
}

// throttled returns each service's error for too many requests. The SDK retries all of them.
func (c *call) throttled() *Fault {
	switch c.service {
	case "ec2":
		return fault("RequestLimitExceeded", "Request limit exceeded.")
	case "tagging":
		return fault("ThrottledException", "Rate exceeded")
	case "servicequotas":
		return fault("TooManyRequestsException", "Rate exceeded")
	case "secretsmanager":
		return fault("ThrottlingException", "Rate exceeded")
	case "s3":
		return fault("SlowDown", "Please reduce your request rate.")
	}
	return fault("Throttling", "Rate exceeded")
}

// refused returns the service's error for a code.
func (c *call) refused(code string) *Fault {
	user := fmt.Sprintf("User: %s is not authorized to perform: %s:%s", c.who.arn, c.service, c.action)
	switch code {
	case Denied:
		return c.denied(user + " because no identity-based policy allows the action")
	case DeniedBySCP:
		return c.denied(user + " with an explicit deny in a service control policy")
	case Expired:
		return c.expired()
	}
	return fault(code, "You are not authorized to perform this operation. %s", user)
}

func (c *call) denied(text string) *Fault {
	switch {
	case c.service == "ec2":
		return fault("UnauthorizedOperation", "You are not authorized to perform this operation. %s", text)
	case speaksJSON[c.service]:
		return fault("AccessDeniedException", "%s", text)
	}
	return fault("AccessDenied", "%s", text)
}

func (c *call) expired() *Fault {
	const text = "The security token included in the request is expired"
	switch {
	case c.service == "ec2":
		return fault("RequestExpired", "Request has expired.")
	case speaksJSON[c.service]:
		return fault("ExpiredTokenException", text)
	}
	return fault("ExpiredToken", text)
}

// Refuse makes the next calls of a name ("DescribeVpcs", "ec2:DescribeVpcs", "eu-west-1/ec2:DescribeVpcs", "eu-west-1/*" for all regional
// services there, or "*") fail with the code, which is one of AWS's or of this package's; empty: Denied. times -1: until lifted.
func (s *Server) Refuse(call string, times int, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.refusals[call] = &refusal{times: times, code: cmp.Or(code, Denied)}
}

// Lift ends a refusal.
func (s *Server) Lift(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.faults.refusals, call)
}

// Throttle makes the first calls of a name ("*": of all together), and then every every-th, fail with the service's own error for too
// many requests. 0, 0 ends it.
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

// Pages limits the length of all pages, whatever was requested; the tagging API, and lists of EC2 with a requested length, then begin
// with an empty page. 0 ends it.
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
	for call, r := range s.faults.refusals {
		if r.times != 0 {
			out[call] = strings.TrimPrefix(out[call]+", "+r.code, ", ")
		}
	}
	if s.faults.pages > 0 {
		out["pages"] = fmt.Sprint(s.faults.pages)
	}
	if s.world.lag != (Lag{}) {
		out["lag"] = s.world.lag.String()
	}
	for code, limit := range s.world.Limits {
		out[code] = fmt.Sprintf("limit %d", limit)
	}
	for _, id := range slices.Sorted(maps.Keys(s.world.Pinned)) {
		out[id] = "pinned"
	}
	return out
}
