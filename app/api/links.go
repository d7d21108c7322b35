package api

import (
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/people"
)

// LinkKubeconfig implements POST /api/v1/clusters/{id}/kubeconfig-links.
func (s *server) LinkKubeconfig(w http.ResponseWriter, r *http.Request, id string, params v1.LinkKubeconfigParams) {
	want := credentials.Want{Role: policy.ClusterRole(params.Role), Lifetime: params.Lifetime}
	made, err := s.Credentials.AccessLink(r.Context(), principal(r), id, want, app.Origin{Source: policy.SourceAPI})
	s.writeLink(w, r, made, err)
}

// LinkConsole implements POST /api/v1/clusters/{id}/console-links.
func (s *server) LinkConsole(w http.ResponseWriter, r *http.Request, id string, params v1.LinkConsoleParams) {
	want := credentials.Want{Console: true, Role: policy.ClusterRole(params.Role), Lifetime: params.Lifetime, Renew: params.Renew}
	made, err := s.Credentials.AccessLink(r.Context(), principal(r), id, want, app.Origin{Source: policy.SourceAPI})
	s.writeLink(w, r, made, err)
}

// LinkKubeadmin implements POST /api/v1/clusters/{id}/kubeadmin-links.
func (s *server) LinkKubeadmin(w http.ResponseWriter, r *http.Request, id string) {
	s.breakGlassLink(w, r, id, credentials.BreakGlassPassword)
}

// LinkAdminKubeconfig implements POST /api/v1/clusters/{id}/admin-kubeconfig-links.
func (s *server) LinkAdminKubeconfig(w http.ResponseWriter, r *http.Request, id string) {
	s.breakGlassLink(w, r, id, credentials.BreakGlassKubeconfig)
}

func (s *server) breakGlassLink(w http.ResponseWriter, r *http.Request, id string, what string) {
	made, err := s.Credentials.BreakGlassLink(r.Context(), principal(r), id, what, app.Origin{Source: policy.SourceAPI})
	s.writeLink(w, r, made, err)
}

func (s *server) writeLink(w http.ResponseWriter, r *http.Request, made credentials.Link, err error) {
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	writeReply(w, jsonType, http.StatusCreated, v1.Link{URL: made.URL.Reveal(), ExpiresAt: made.ExpiresAt.UTC()})
}

// BreakGlass implements POST /api/v1/clusters/{id}/break-glass.
func (s *server) BreakGlass(w http.ResponseWriter, r *http.Request, id string) {
	var said v1.BreakGlass
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	a, err := s.Credentials.BreakGlass(r.Context(), principal(r), id, string(said.What), app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	s.writeApproval(w, r, http.StatusAccepted, a, err)
}

// RedeemLink implements POST /api/v1/links/{link}.
func (s *server) RedeemLink(w http.ResponseWriter, r *http.Request, link string) {
	var said v1.Redeem
	if !s.readDocument(w, r, &said, true, maxBody) {
		return
	}
	if err := s.Credentials.Means(r.Context(), principal(r), link, said.Account); err != nil {
		s.writeError(w, r, err)
		return
	}
	got, err := s.Credentials.Redeem(r.Context(), principal(r), link, app.Origin{Source: policy.SourceAPI})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	switch got.Kind {
	case people.LinkKubeconfig, people.LinkInstallers:
		writeKubeconfig(w, got.Cluster.ID, got.Kubeconfig.Reveal())
	case people.LinkKubeadmin, people.LinkConsole:
		out := v1.Redeemed{Kind: v1.RedeemedKind(got.Kind), Username: got.User, Password: got.Password.Reveal()}
		if got.Kind == people.LinkConsole {
			out.ConsoleURL = got.Cluster.Outputs.ConsoleURL
		}
		writeOK(w, out)
	default:
		writeOK(w, v1.Redeemed{Kind: v1.RedeemedKind(got.Kind), Account: got.Account, Code: got.Code.Reveal()})
	}
}
