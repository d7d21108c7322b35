package api

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/access"
)

// mostPatience is how many seconds a request waits for a kubeconfig.
const mostPatience = 20

// GetKubeconfig implements GET /api/v1/clusters/{id}/kubeconfig.
func (s *server) GetKubeconfig(w http.ResponseWriter, r *http.Request, id string, params v1.GetKubeconfigParams) {
	want := credentials.Want{Role: policy.ClusterRole(params.Role), Lifetime: params.Lifetime, Renew: params.Renew,
		Run: policy.PipelineRun{Kind: string(params.RunKind), Name: params.RunName, UID: params.RunUID}}
	patience := time.Duration(min(max(params.Wait, 0), mostPatience)) * time.Second
	given, err := s.Credentials.AwaitAccess(r.Context(), principal(r), id, want, app.Origin{Source: policy.SourceAPI}, min(patience, s.Timeout/2))
	if err == nil && given.Kubeconfig.Empty() && patience > 0 {
		err = app.Fail(app.Busy, messages.AccessBeingMade(given.Cluster, false))
	}
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	h := w.Header()
	if given.Kubeconfig.Empty() {
		h.Set("Retry-After", strconv.Itoa(int(credentials.RetryAfter/time.Second)))
		writeReply(w, jsonType, http.StatusAccepted, accessOf(given.Access, given.Namespace, true))
		return
	}
	h.Set("Ocpctl-Access-Id", given.Access.ID)
	h.Set("Ocpctl-Access-Expires", given.Access.ExpiresAt.UTC().Format(time.RFC3339))
	writeKubeconfig(w, given.Cluster, given.Kubeconfig.Reveal())
}

func writeKubeconfig(w http.ResponseWriter, name string, plain string) {
	h := w.Header()
	h.Set("Content-Type", "application/yaml")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name+".kubeconfig"))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, plain) // the client disconnected and will retry
}

// ListAccess implements GET /api/v1/clusters/{id}/access.
func (s *server) ListAccess(w http.ResponseWriter, r *http.Request, id string) {
	row, list, mine, err := s.Credentials.Accesses(r.Context(), principal(r), id)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Accesses{Items: []v1.Access{}}
	for _, a := range list {
		out.Items = append(out.Items, accessOf(a, row.HubNamespace(), mine[a.ID]))
	}
	writeOK(w, out)
}

// RevokeAccess implements DELETE /api/v1/clusters/{id}/access/{access}.
func (s *server) RevokeAccess(w http.ResponseWriter, r *http.Request, id string, access string, params v1.RevokeAccessParams) {
	err := s.Credentials.Revoke(r.Context(), principal(r), id, access, app.Origin{Source: policy.SourceAPI, Why: params.Reason})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	s.ListAccess(w, r, id)
}

// userOf returns the name of an access's user in the cluster. namespace has the accounts of a cluster on a hub; empty: it is on none.
func userOf(a access.Row, namespace string) string {
	if a.Kind == access.Console {
		return a.Account
	}
	return names.AccessUserOn(cmp.Or(namespace, names.AccessNamespace), a.Account)
}

// accessOf converts an access for the API.
func accessOf(a access.Row, namespace string, mine bool) v1.Access {
	return v1.Access{
		AccessID: a.ID, Kind: v1.AccessKind(a.Kind), Reader: a.Reader, ReaderName: a.ReaderName, Role: v1.AccessRole(a.Role), State: v1.AccessState(a.State), By: a.Right, Run: a.RunID,
		User: userOf(a, namespace), AskedAt: a.AskedAt.UTC(), MintedAt: when(a.MintedAt), ExpiresAt: when(a.ExpiresAt), Trouble: a.Trouble,
		RevokedAt: when(a.RevokedAt), RevokedBy: a.RevokedBy, RevokeWhy: a.RevokeWhy, Removed: a.RemovedAt != nil, Mine: mine,
	}
}
