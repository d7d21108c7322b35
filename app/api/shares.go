package api

import (
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/people"
)

// ListShares implements GET /api/v1/clusters/{id}/shares.
func (s *server) ListShares(w http.ResponseWriter, r *http.Request, id string) {
	list, err := s.App.Shares(r.Context(), principal(r), id)
	s.writeShares(w, r, list, err)
}

// ShareCluster implements POST /api/v1/clusters/{id}/shares.
func (s *server) ShareCluster(w http.ResponseWriter, r *http.Request, id string) {
	var said v1.ShareRequest
	if !s.readDocument(w, r, &said, false, maxBody) {
		return
	}
	share := people.Share{Kind: string(said.Kind), Grantee: said.With, Access: people.Access(said.Access), Role: access.Role(said.Role)}
	list, err := s.App.Share(r.Context(), principal(r), id, share, app.Origin{Source: policy.SourceAPI})
	s.writeShares(w, r, list, err)
}

// UnshareCluster implements DELETE /api/v1/clusters/{id}/shares.
func (s *server) UnshareCluster(w http.ResponseWriter, r *http.Request, id string, params v1.UnshareClusterParams) {
	q := s.newQuery(r)
	kind := q.readChoice("kind", string(params.Kind), string(v1.ShareKindTeam), string(v1.ShareKindPrincipal))
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	list, err := s.App.Unshare(r.Context(), principal(r), id, kind, params.With, app.Origin{Source: policy.SourceAPI})
	s.writeShares(w, r, list, err)
}

// nameGrantee names whom a cluster is shared with, as people know them.
func (s *server) nameGrantee(one people.Share) string {
	if one.Kind == string(v1.ShareKindTeam) {
		return one.Grantee
	}
	return s.App.NameOf(one.Grantee)
}

func (s *server) writeShares(w http.ResponseWriter, r *http.Request, list []people.Share, err error) {
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Shares{Items: []v1.Share{}}
	for _, one := range list {
		out.Items = append(out.Items, v1.Share{
			Kind: v1.ShareKind(one.Kind), With: one.Grantee, Access: v1.ShareAccess(one.Access), Role: v1.ShareRole(one.Role), By: one.GrantedBy, ByName: s.App.NameOf(one.GrantedBy), At: one.CreatedAt.UTC(), WithName: s.nameGrantee(one),
		})
	}
	writeOK(w, out)
}
