package api

import (
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// EnsureLabels implements POST /api/v1/repositories/labels.
func (s *server) EnsureLabels(w http.ResponseWriter, r *http.Request, params v1.EnsureLabelsParams) {
	var said v1.LabelsRequest
	if !s.checkKey(w, r, params.IdempotencyKey) || !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	by := principal(r)
	id, err := s.Admin.EnsureLabels(r.Context(), by, said.Repository, app.Origin{Source: policy.SourceAPI, Why: said.Reason, Once: params.IdempotencyKey})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	state, err := s.Admin.Labels(r.Context(), by, id)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	w.Header().Set("Location", "/api/v1/repositories/labels/"+id)
	writeReply(w, jsonType, http.StatusAccepted, toLabels(state))
}

// GetLabels implements GET /api/v1/repositories/labels/{id}.
func (s *server) GetLabels(w http.ResponseWriter, r *http.Request, id string) {
	state, err := s.Admin.Labels(r.Context(), principal(r), id)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, toLabels(state))
}

func toLabels(e outbox.EffectState) v1.Labels {
	out := v1.Labels{ID: e.ID, Repository: e.Repo, State: v1.LabelsStateWaiting, Note: e.Note, AskedAt: e.CreatedAt.UTC()}
	switch {
	case e.GivenUp:
		out.State = v1.LabelsStateFailed
	case e.DoneAt != nil:
		out.State = v1.LabelsStateDone
	}
	if e.DoneAt != nil {
		out.DoneAt = e.DoneAt.UTC()
	}
	return out
}
