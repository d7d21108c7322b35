// Package faults is what a test or a demo lets go wrong in a stand-in of a cloud: refusals, throttling, delays and short pages. It counts
// the calls. What a refusal looks like is the stand-in's business.
package faults

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Denied is the code of a refusal without one: the caller may not do it.
const Denied = "Denied"

// Set is the faults of one stand-in. It is safe for concurrent use.
type Set struct {
	mu        sync.Mutex // guards everything below
	refusals  map[string]*refusal
	throttles map[string]*throttle
	delays    map[string]time.Duration
	counts    map[string]*Count
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

// Count is the number of calls of one name, by result.
type Count struct {
	Calls     int  `json:"calls"`
	Throttled int  `json:"throttled,omitempty"` // by a set fault
	Refused   int  `json:"refused,omitempty"`   // by a set fault or by the service's rules
	Write     bool `json:"write,omitempty"`
}

// New returns a set without faults.
func New() *Set {
	return &Set{refusals: map[string]*refusal{}, throttles: map[string]*throttle{}, delays: map[string]time.Duration{}, counts: map[string]*Count{}}
}

// Effect is what the faults do to one call.
type Effect struct {
	Throttled bool
	Code      string // of the refusal; empty: none
	Delay     time.Duration
}

// Hit counts a call, and consumes one throttling or refusal if one is set for any of its names. The first name is the one by which it is
// counted.
func (s *Set) Hit(write bool, names ...string) (e Effect) {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := s.count(names[0])
	count.Calls, count.Write = count.Calls+1, write
	for _, name := range names {
		e.Delay = max(e.Delay, s.delays[name])
		if t := s.throttles[name]; t != nil {
			e.Throttled = t.hits() || e.Throttled
		}
	}
	if e.Throttled {
		count.Throttled++
		return e
	}
	e.Code = s.refuse(count, names...)
	return e
}

// HitZone consumes the refusal of a call in a zone, and returns its code; empty: it is not refused there.
func (s *Set) HitZone(call, zone string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refuse(s.count(call), call+"/"+zone)
}

func (s *Set) refuse(count *Count, names ...string) (code string) {
	for _, name := range names {
		if r := s.refusals[name]; r != nil && r.times != 0 {
			r.times = max(r.times-1, -1)
			count.Refused++
			return r.code
		}
	}
	return ""
}

// Refused counts a refusal by the service's own rules.
func (s *Set) Refused(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(name).Refused++
}

func (s *Set) count(name string) *Count {
	if s.counts[name] == nil {
		s.counts[name] = &Count{}
	}
	return s.counts[name]
}

// Calls returns the counts since the start, by service and call: "ec2:DescribeVpcs", "vpc:list_vpcs". Calls of unknown callers and unknown
// calls are not counted.
func (s *Set) Calls() map[string]Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]Count{}
	for name, count := range s.counts {
		out[name] = *count
	}
	return out
}

// Refuse makes the next calls of a name fail with the code, which is one of the cloud's or of the stand-in's package; empty: Denied. A name
// is "DescribeVpcs", "ec2:DescribeVpcs", "eu-west-1/ec2:DescribeVpcs", "eu-west-1/*" for all regional services there, "ec2:StopInstances/i-0abc"
// for a call with that machine, or "*". On IBM Cloud, "vpc:create_instance_action:stop" is one action of machines, and
// "vpc:create_instance_action:stop/ID" that of one machine. times -1: until lifted.
func (s *Set) Refuse(call string, times int, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals[call] = &refusal{times: times, code: cmp.Or(code, Denied)}
}

// Lift ends a refusal.
func (s *Set) Lift(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.refusals, call)
}

// Throttle makes the first calls of a name ("*": of all together), and then every every-th, fail with the service's own error for too
// many requests. 0, 0 ends it.
func (s *Set) Throttle(call string, first, every int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.throttles, call)
	if first > 0 || every > 0 {
		s.throttles[call] = &throttle{first: first, every: every}
	}
}

// Delay makes every call of a name ("*": all) take that much longer; 0 ends it.
func (s *Set) Delay(call string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delays[call] = d
}

// Pages limits the length of all pages, whatever was requested. 0 ends it.
func (s *Set) Pages(most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages = most
}

// Page is the length of a page of which so many items would be shown (0: all), and whether a test has limited it.
func (s *Set) Page(asked int) (length int, limited bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages > 0 && (asked == 0 || asked > s.pages) {
		return s.pages, true
	}
	return asked, s.pages > 0
}

// Describe returns the set faults for the demo's page: call → code, or the delay.
func (s *Set) Describe() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for call, d := range s.delays {
		if d > 0 {
			out[call] = d.String()
		}
	}
	for call, t := range s.throttles {
		out[call] = fmt.Sprintf("throttled: the first %d, then every %d", t.first, t.every)
	}
	for call, r := range s.refusals {
		if r.times != 0 {
			out[call] = strings.TrimPrefix(out[call]+", "+r.code, ", ")
		}
	}
	if s.pages > 0 {
		out["pages"] = fmt.Sprint(s.pages)
	}
	return out
}
