package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/policy"
)

// WhatIf implements POST /api/v1/what-if.
func (s *server) WhatIf(w http.ResponseWriter, r *http.Request) {
	var asked v1.Question
	if !s.readDocument(w, r, &asked, false, maxBody) {
		return
	}
	raw, err := json.Marshal(asked.Request)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	answer, err := s.Admin.WhatIf(r.Context(), principal(r), admin.Question{
		As: asked.As, Role: asked.Role, Source: asked.Source, Workers: asked.Workers, CreateRequest: app.ReadCreateRequest(bytes.NewReader(raw)),
		On: admin.QuestionGitHub{Repository: asked.Repository, Permission: asked.Permission, Fork: asked.Fork},
	})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeOK(w, v1.QuestionAnswer{
		Principal: answer.Principal.ID, Name: answer.Principal.Name, Roles: rolesOf(answer.Principal), RolesOf: utc(answer.Since), Verdict: toPreview(answer.Preview),
	})
}

// rolesOf lists a principal's roles with their teams.
func rolesOf(p policy.Principal) []string {
	roles := []string{}
	for _, seat := range p.Seats {
		roles = append(roles, strings.TrimSpace(string(seat.Role)+" "+seat.Team))
	}
	return roles
}

// ReplayCatalogue implements POST /api/v1/catalogue/what-if.
func (s *server) ReplayCatalogue(w http.ResponseWriter, r *http.Request) {
	var said v1.CatalogueFiles
	if !s.readDocument(w, r, &said, false, maxCatalogue) {
		return
	}
	found, err := s.Admin.ReplayCatalogue(r.Context(), principal(r), said.Files, app.Origin{Source: policy.SourceAPI})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.CatalogueReplay{
		Valid: len(found.Problems) == 0, Problems: toProblems(found.Problems), Hash: found.Hash, Headline: found.Headline(), Requests: found.Requests,
		Refused: found.Counts[policy.NowRefused], NeedApproval: found.Counts[policy.NowApproval], Accepted: found.Counts[policy.NowAccepted], NeedNoApproval: found.Counts[policy.NowFree],
		Uncounted: found.Uncounted, OlderLeftOut: found.More, RolesChange: found.Roles, Groups: []v1.CatalogueReplayGroup{},
	}
	for _, a := range found.Removed {
		out.RemovedAccounts = append(out.RemovedAccounts, a.Name)
	}
	for _, g := range found.Groups {
		group := v1.CatalogueReplayGroup{Change: string(g.Change), Check: g.Check, Requests: g.Requests, People: g.People, Teams: g.Teams, Profiles: g.Profiles}
		for _, e := range g.Examples {
			group.Examples = append(group.Examples, v1.CatalogueReplayExample{ID: e.Request, Principal: e.Principal, Name: s.App.NameOf(e.Principal), Team: e.Team, Profile: e.Profile, At: e.At.UTC(), Message: e.Message})
		}
		out.Groups = append(out.Groups, group)
	}
	writeOK(w, out)
}
