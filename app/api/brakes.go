package api

import (
	"cmp"
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// ListBrakes implements GET /api/v1/brakes.
func (s *server) ListBrakes(w http.ResponseWriter, r *http.Request) {
	list, err := s.App.Brakes(r.Context(), principal(r))
	s.writeBrakes(w, r, list, err)
}

// Freeze implements POST /api/v1/brakes.
func (s *server) Freeze(w http.ResponseWriter, r *http.Request) {
	var said v1.FreezeRequest
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	brake, err := s.App.Freeze(r.Context(), principal(r), app.FreezeRequest{
		Where: lifecycle.Place{Platform: said.Platform, Account: said.Account, Region: said.Region, Profile: said.Profile, Team: said.Team},
		Until: said.Until, Drain: said.Drain, DrainBy: said.DrainBy,
	}, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeReply(w, jsonType, http.StatusCreated, toBrake(brake))
}

// Thaw implements POST /api/v1/brakes/{id}/thaw.
func (s *server) Thaw(w http.ResponseWriter, r *http.Request, id string) {
	var said v1.MaybeReason
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	ended, err := s.App.Thaw(r.Context(), principal(r), id, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	s.writeBrakes(w, r, ended, err)
}

func (s *server) writeBrakes(w http.ResponseWriter, r *http.Request, list []lifecycle.Brake, err error) {
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Brakes{Items: []v1.Brake{}}
	for _, b := range list {
		out.Items = append(out.Items, toBrake(b))
	}
	writeOK(w, out)
}

func toBrake(b lifecycle.Brake) v1.Brake {
	return v1.Brake{
		ID: b.ID, Kind: v1.BrakeKind(b.Kind), Platform: b.Where.Platform, Account: b.Where.Account, Region: b.Where.Region, Profile: b.Where.Profile, Team: b.Where.Team,
		Version: b.Where.Version, By: b.By, Reason: cmp.Or(b.Words, b.Code), Failures: b.Failures, Message: b.String(), Since: b.Since, Until: b.Until, DrainAt: b.DrainAt,
	}
}
