package github

import (
	"encoding/json"
	"net/http"
	"slices"
)

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
