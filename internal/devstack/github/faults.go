package github

import (
	"net/http"
	"slices"
	"strings"
)

// APIFault is what the next calls of the API are answered with instead.
type APIFault struct {
	Status     int
	RetryAfter string // the header's value; empty: none
	Message    string
	DocsURL    string
	Method     string // only calls of this method; empty: all
	Path       string // only calls whose path contains this; empty: all but those for tokens
	After      bool   // do the work first, then cut the connection: an answer lost after its commit
}

// faults are what tests ask for. Guarded by Server.mu.
type faults struct {
	drop, double, hold int
	api                []APIFault
	late               int            // how often what is new answers 404
	unseen             map[string]int // repository/id → how often yet
}

// DropNext makes the next n webhooks get lost: the log has them as failed, nobody received them.
func (s *Server) DropNext(n int) { s.setFaults(func(f *faults) { f.drop = n }) }

// DuplicateNext sends the next n webhooks twice, with one GUID.
func (s *Server) DuplicateNext(n int) { s.setFaults(func(f *faults) { f.double = n }) }

// HoldNext keeps the next n webhooks back until Release.
func (s *Server) HoldNext(n int) { s.setFaults(func(f *faults) { f.hold = n }) }

// Release sends what was held back, the newest first: late and out of order.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.hold = 0
	for _, d := range slices.Backward(s.world.Deliveries) {
		if d.State == Held {
			d.State = Waiting
			s.send(d)
		}
	}
}

// FailNext answers the next n matching API calls with the fault. Faults asked for earlier come first.
func (s *Server) FailNext(n int, f APIFault) {
	s.setFaults(func(all *faults) { all.api = append(all.api, slices.Repeat([]APIFault{f}, n)...) })
}

// Recover ends all faults that were asked for with FailNext.
func (s *Server) Recover() { s.setFaults(func(all *faults) { all.api = nil }) }

// RevokeTokens makes every installation token issued so far worthless.
func (s *Server) RevokeTokens() {
	s.look(func(w *world) { clear(w.Tokens) })
}

func (s *Server) setFaults(fn func(*faults)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(&s.faults)
}

// withFaults sends a new delivery, or does to it what a test asked for. Called with s.mu held.
func (s *Server) withFaults(d *Delivery) {
	switch {
	case s.faults.drop > 0:
		s.faults.drop--
		d.State, d.Status = Failed, "failed to connect to host"
	case s.faults.hold > 0:
		s.faults.hold--
		d.State = Held
	case s.faults.double > 0:
		s.faults.double--
		s.send(d)
		s.send(d)
	default:
		s.send(d)
	}
}

// takeFault finds the fault for a call and uses it up.
func (s *Server) takeFault(r *http.Request) (APIFault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults.api {
		if f.Method != "" && f.Method != r.Method || !strings.Contains(r.URL.Path, f.Path) ||
			f.Path == "" && strings.HasPrefix(r.URL.Path, "/app/") {
			continue
		}
		s.faults.api = slices.Delete(s.faults.api, i, i+1)
		return f, true
	}
	return APIFault{}, false
}

// withAPIFaults answers calls with the faults tests asked for.
func (s *Server) withAPIFaults(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := s.takeFault(r)
		switch {
		case !ok:
			next.ServeHTTP(w, r)
		case f.After:
			next.ServeHTTP(discard{http.Header{}}, r)
			panic(http.ErrAbortHandler) // cuts the connection, by net/http's own convention
		default:
			if f.RetryAfter != "" {
				w.Header().Set("Retry-After", f.RetryAfter)
			}
			answer(w, f.Status, object{"message": f.Message, "documentation_url": f.DocsURL})
		}
	})
}

// discard is an answer nobody receives.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
