package github

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// APIFault is a response that replaces that of the next API calls.
type APIFault struct {
	Status     int
	RetryAfter string // the header's value; empty: none
	Message    string
	DocsURL    string
	Method     string // only for this method; empty: all
	Path       string // only for paths that contain this; empty: all except those for tokens
	After      bool   // execute the call first, then cut the connection: a response lost after its commit
}

// faults are the faults that tests set. Guarded by Server.mu.
type faults struct {
	drop, double, hold int
	lose               []string // events, with or without an action
	api                []APIFault
	late               int            // number of 404 responses for something new
	unseen             map[string]int // repository/id → number so far
}

// DropNext loses the next n webhooks: the log shows them as failed, nobody received them.
func (s *Server) DropNext(n int) { s.setFaults(func(f *faults) { f.drop = n }) }

// Lose loses every webhook of these events until the next call: "workflow_run", or "workflow_run.completed" for one action. Without
// any, none is lost.
func (s *Server) Lose(events ...string) { s.setFaults(func(f *faults) { f.lose = events }) }

// DuplicateNext sends the next n webhooks twice, with the same GUID.
func (s *Server) DuplicateNext(n int) { s.setFaults(func(f *faults) { f.double = n }) }

// HoldNext holds the next n webhooks until Release.
func (s *Server) HoldNext(n int) { s.setFaults(func(f *faults) { f.hold = n }) }

// Release sends the held webhooks, the newest first: late and out of order.
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

// FailNext makes the next n matching API calls return the fault. Earlier faults apply first.
func (s *Server) FailNext(n int, f APIFault) {
	s.setFaults(func(all *faults) { all.api = append(all.api, slices.Repeat([]APIFault{f}, n)...) })
}

// Recover ends all faults of FailNext.
func (s *Server) Recover() { s.setFaults(func(all *faults) { all.api = nil }) }

// RevokeTokens invalidates every installation token issued so far.
func (s *Server) RevokeTokens() {
	s.look(func(w *world) { clear(w.Tokens) })
}

func (s *Server) setFaults(fn func(*faults)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(&s.faults)
}

// withFaults sends a new delivery, with the faults that a test set. Called with s.mu held.
func (s *Server) withFaults(d *Delivery) {
	switch {
	case slices.Contains(s.faults.lose, d.Event), slices.Contains(s.faults.lose, d.Event+"."+d.Action):
		d.State, d.Status = Failed, "failed to connect to host"
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
			f.Path == "" && (strings.HasPrefix(r.URL.Path, "/app/") || strings.HasPrefix(r.URL.Path, idTokenPath)) {
			continue
		}
		s.faults.api = slices.Delete(s.faults.api, i, i+1)
		return f, true
	}
	return APIFault{}, false
}

// withAPIFaults applies the faults that tests set to calls.
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

// discard is a response that nobody receives.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// adminRoutes let other processes of a demo decide what goes wrong. They are not part of GitHub, and take no credentials:
//
//	POST /_standin/fail {"times","status","method","path","message","retry_after"}   the next calls of the API get this answer
//	POST /_standin/lose {"events":["pull_request.labeled"]}                          no webhook of these is sent; none: all are
//	POST /_standin/lift {}                                                           ends both
//	GET  /_standin/faults                                                            how many answers of "fail" are left
//
// Calls for a token fail too if path names them: /access_tokens for the App's, /_actions/idtoken/ for a job's.
func (s *Server) adminRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /_standin/fail", s.adminFail)
	mux.HandleFunc("POST /_standin/lose", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Events []string `json:"events"`
		}
		defer catch(w)
		decodeBody(r, &in)
		s.Lose(in.Events...)
		answer(w, http.StatusOK, object{})
	})
	mux.HandleFunc("POST /_standin/lift", func(w http.ResponseWriter, _ *http.Request) {
		s.Recover()
		s.Lose()
		answer(w, http.StatusOK, object{})
	})
	mux.HandleFunc("GET /_standin/faults", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		left, lost := len(s.faults.api), slices.Clone(s.faults.lose)
		s.mu.Unlock()
		answer(w, http.StatusOK, object{"answers": left, "lost": lost})
	})
}

func (s *Server) adminFail(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Times      int    `json:"times"`
		Status     int    `json:"status"`
		Method     string `json:"method"`
		Path       string `json:"path"`
		Message    string `json:"message"`
		RetryAfter string `json:"retry_after"`
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil || in.Times < 1 || in.Times > 10_000 || in.Status < 400 || in.Status > 599 {
		complain(w, http.StatusBadRequest, "times (1 to 10000) and status (400 to 599) are required; method, path, message and retry_after are possible.")
		return
	}
	s.FailNext(in.Times, APIFault{Status: in.Status, Method: in.Method, Path: in.Path, Message: in.Message, RetryAfter: in.RetryAfter})
	answer(w, http.StatusOK, object{})
}
