package api

import (
	"context"
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/people"
)

// LinkKubeconfig implements POST /api/v1/clusters/{id}/kubeconfig-links.
func (s *server) LinkKubeconfig(w http.ResponseWriter, r *http.Request, id ID) {
	s.link(w, r, id, s.Credentials.KubeconfigLink)
}

// LinkKubeadmin implements POST /api/v1/clusters/{id}/kubeadmin-links.
func (s *server) LinkKubeadmin(w http.ResponseWriter, r *http.Request, id ID) {
	s.link(w, r, id, s.Credentials.KubeadminLink)
}

func (s *server) link(w http.ResponseWriter, r *http.Request, id ID, make func(context.Context, policy.Principal, string, app.Origin) (credentials.Link, error)) {
	made, err := make(r.Context(), principal(r), id, app.Origin{Source: policy.SourceAPI})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply(w, jsonType, http.StatusCreated, Link{URL: made.URL.Reveal(), ExpiresAt: made.ExpiresAt.UTC()})
}

// BreakGlass implements POST /api/v1/clusters/{id}/break-glass.
func (s *server) BreakGlass(w http.ResponseWriter, r *http.Request, id ID) {
	var said Reason
	if !s.read(w, r, &said, false, maxBody) {
		return
	}
	a, err := s.Credentials.BreakGlass(r.Context(), principal(r), id, app.Origin{Source: policy.SourceAPI, Why: said.Reason})
	s.approval(w, r, http.StatusAccepted, a, err)
}

// RedeemLink implements POST /api/v1/links/{link}.
func (s *server) RedeemLink(w http.ResponseWriter, r *http.Request, link string) {
	var said Redeem
	if !s.read(w, r, &said, true, maxBody) {
		return
	}
	if err := s.Credentials.Means(r.Context(), principal(r), link, said.Account); err != nil {
		s.fail(w, r, err)
		return
	}
	got, err := s.Credentials.Redeem(r.Context(), principal(r), link, app.Origin{Source: policy.SourceAPI})
	if err != nil {
		s.fail(w, r, err)
		return
	}
	switch got.Kind {
	case people.LinkKubeconfig:
		kubeconfig(w, got.Cluster.ID, got.Kubeconfig)
	case people.LinkKubeadmin:
		ok(w, Redeemed{Kind: RedeemedKind(got.Kind), Username: "kubeadmin", Password: got.Password.Reveal()})
	default:
		ok(w, Redeemed{Kind: RedeemedKind(got.Kind), Account: got.Account})
	}
}
