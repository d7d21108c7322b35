package api

import (
	"context"
	"net/http"
	"time"
)

const probeTimeout = 2 * time.Second

// writeHealthy answers that the process is running; it checks nothing else.
func writeHealthy(w http.ResponseWriter, _ *http.Request) {
	writeOK(w, map[string]string{"status": "ok"})
}

// writeReady answers whether PostgreSQL responds, without which nothing works.
func (s *server) writeReady(w http.ResponseWriter, r *http.Request) {
	if s.Draining != nil && s.Draining.Err() != nil {
		writeProblem(w, http.StatusServiceUnavailable, "This process is stopping; send requests to another one.")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), probeTimeout)
	defer cancel()
	if err := s.Store.Ping(ctx); err != nil {
		s.Log.WarnContext(r.Context(), "not ready", "err", err)
		writeProblem(w, http.StatusServiceUnavailable, "PostgreSQL does not respond.")
		return
	}
	writeOK(w, map[string]string{"status": "ready", "postgresql": "ok"})
}

// statusWriter remembers the status of the response.
type statusWriter struct {
	http.ResponseWriter
	code  int
	begun bool
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(code int) {
	w.code, w.begun = code, true
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *statusWriter) Write(body []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(body)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
