package api

import (
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/people"
)

// ListShares implements GET /api/v1/clusters/{id}/shares.
func (s *server) ListShares(w http.ResponseWriter, r *http.Request, id ID) {
	list, err := s.App.Shares(r.Context(), principal(r), id)
	s.shares(w, r, list, err)
}

// ShareCluster implements POST /api/v1/clusters/{id}/shares.
func (s *server) ShareCluster(w http.ResponseWriter, r *http.Request, id ID) {
	var said ShareRequest
	if !s.read(w, r, &said, false, maxBody) {
		return
	}
	share := people.Share{Kind: string(said.Kind), Grantee: said.With, Access: people.Access(said.Access), Role: access.Role(said.Role)}
	list, err := s.App.Share(r.Context(), principal(r), id, share, app.Origin{Source: policy.SourceAPI})
	s.shares(w, r, list, err)
}

// UnshareCluster implements DELETE /api/v1/clusters/{id}/shares.
func (s *server) UnshareCluster(w http.ResponseWriter, r *http.Request, id ID, params UnshareClusterParams) {
	q := s.query(r)
	kind := q.among("kind", string(params.Kind), string(ShareKindTeam), string(ShareKindPrincipal))
	if err := q.err(); err != nil {
		s.fail(w, r, err)
		return
	}
	list, err := s.App.Unshare(r.Context(), principal(r), id, kind, params.With, app.Origin{Source: policy.SourceAPI})
	s.shares(w, r, list, err)
}

func (s *server) shares(w http.ResponseWriter, r *http.Request, list []people.Share, err error) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	out := Shares{Items: []Share{}}
	for _, one := range list {
		out.Items = append(out.Items, Share{
			Kind: ShareKind(one.Kind), With: one.Grantee, Access: ShareAccess(one.Access), Role: ShareRole(one.Role), By: one.GrantedBy, At: one.CreatedAt.UTC(),
		})
	}
	ok(w, out)
}
