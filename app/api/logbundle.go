package api

import (
	"io"
	"math"
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/internal/download"
	"github.com/ocpctl/ocpctl/policy"
)

// GetLogBundle implements GET /api/v1/clusters/{id}/log-bundle. Nothing is sent before the bucket answered, so that a refusal can
// still be sent as one. A later read error breaks the connection, which no reader takes for the end.
func (s *server) GetLogBundle(w http.ResponseWriter, r *http.Request, id string, params v1.GetLogBundleParams) {
	q := s.newQuery(r)
	attempt := q.readNumber("attempt", params.Attempt, 0, 0, math.MaxInt32)
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	leave, found := s.Streams.Take(principal(r).ID)
	if !found {
		tooManyStreams(w)
		return
	}
	defer leave()
	bundle, err := s.Credentials.LogBundle(r.Context(), principal(r), id, attempt, app.Origin{Source: policy.SourceAPI})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	begun, err := download.Send(w, bundle.Name, "application/gzip", func(out io.Writer) error { return bundle.Send(r.Context(), out) })
	switch {
	case err != nil && begun:
		s.Log.ErrorContext(r.Context(), "log bundle broken off", "request", visitOf(r).id, "cluster", id, "err", err)
		panic(http.ErrAbortHandler)
	case err != nil:
		s.writeError(w, r, err)
	}
}
