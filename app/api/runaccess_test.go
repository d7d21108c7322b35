package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/runs"
)

func TestARunsKubeconfigEndsWithTheRun(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	var made v1.Accepted
	h.create(h.job("check_run_id", "9001"), "shop", nil, http.StatusAccepted, &made)
	h.ready(made.ClusterID)
	path := "/api/v1/clusters/shop"
	answer, raw := h.ask(http.MethodGet, path+"/kubeconfig", h.job("check_run_id", "9001"), nil)
	require.Equal(t, http.StatusOK, answer.StatusCode, "the create made it: %s", raw)
	var other v1.Access
	h.does(http.MethodGet, path+"/kubeconfig?role=view", h.job("check_run_id", "9002"), nil, http.StatusAccepted, &other)
	require.Equal(t, []any{made.Run.ID, v1.AccessRole("view")}, []any{other.Run, other.Role})

	_, err := h.store.Runs.See(t.Context(), made.Run.ID, runs.Seen{Attempt: 1, State: lifecycle.RunFinished, Conclusion: "failure", UpdatedAt: time.Now(), Confirmed: true}, time.Time{})
	require.NoError(t, err)
	p := h.refused(http.MethodGet, path+"/kubeconfig", h.job("check_run_id", "9001"), nil, http.StatusConflict)
	require.Contains(t, p.Detail, "finished", p.Detail)
	list := h.accesses(path, oidc.Admin)
	require.Len(t, list, 2)
	for _, a := range list {
		require.Equal(t, []any{v1.AccessState("revoked"), "its run finished"}, []any{a.State, a.RevokeWhy})
	}
	require.Len(t, h.runsAccess(made.ClusterID).Take, 1, "the one that was made")
}

func TestACreateMakesNothingForARunToWhichTheClusterIsNotBound(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	var made v1.Accepted
	h.create(h.job(), "shop", map[string]any{"lifetime": "ttl"}, http.StatusAccepted, &made)
	list, err := h.store.Access.List(t.Context(), made.ClusterID, time.Hour)
	require.NoError(t, err)
	require.Empty(t, list, "it would not end with the run")
}

func TestAServiceAccountsKubeconfigEndsWithTheRunThatItNames(t *testing.T) {
	terms := embedded(t)
	terms.Identities = append(terms.Identities, profiles.Identity{
		Name: "tekton", Source: profiles.SourceOIDC, Issuer: "https://issuer.example", Match: map[string][]string{"kubernetes.io.namespace": {"ci"}}, Role: "requester", Teams: []string{"platform"},
	})
	h := fixtureWith(t, terms, nil)
	h.Server = serve(t, h.config(h.store, h.app, terms, func(c *Config) {
		c.Auth = auth.New(auth.Config{
			Issuers: []auth.Issuer{{URL: h.issuer.URL(), Audience: oidc.Audience, Platform: profiles.IssuerKubernetes}}, Identities: func() []profiles.Identity { return terms.Identities },
		})
	}))
	made := h.make(oidc.Kubernetes, "shop")
	h.ready(made.ClusterID)
	path := "/api/v1/clusters/" + made.ClusterID
	answer, raw := h.ask(http.MethodGet, path+"/kubeconfig", h.as(oidc.Kubernetes), nil)
	require.Equal(t, http.StatusOK, answer.StatusCode, "the create made one, for no run: %s", raw)
	var of v1.Access
	h.does(http.MethodGet, path+"/kubeconfig?runKind=PipelineRun&runName=e2e&runUid=u-1", h.as(oidc.Kubernetes), nil, http.StatusAccepted, &of)
	known, err := h.store.Runs.Run(t.Context(), of.Run)
	require.NoError(t, err)
	require.Equal(t, []any{lifecycle.Tekton, "e2e/u-1", "ci"}, []any{known.Platform, known.Key, known.Scope})
	row, err := h.store.Access.One(t.Context(), made.ClusterID, of.AccessID)
	require.NoError(t, err)
	require.Equal(t, time.Hour, row.Lifetime, "nobody learns when a run ends that is not watched")

	h.create(h.as(oidc.Kubernetes), "shop-2", map[string]any{"kind": "PipelineRun", "name": "e2e", "uid": "u-1"}, http.StatusAccepted, &made)
	list, err := h.store.Access.List(t.Context(), made.ClusterID, time.Hour)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, time.Hour, list[0].Lifetime, "what it gets with its cluster too")
}

// What the server learns of a run after the cluster was accepted counts as much as what its configuration says.
func TestAKubeconfigOfARunThatCannotBeWatchedAnyMoreLastsAnHour(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	var made v1.Accepted
	h.create(h.job("check_run_id", "9001"), "shop", nil, http.StatusAccepted, &made)
	h.ready(made.ClusterID)
	_, err := h.store.Runs.Unwatch(t.Context(), made.Run.ID, "the App is not installed there", time.Now().Add(time.Hour))
	require.NoError(t, err)
	var of v1.Access
	h.does(http.MethodGet, "/api/v1/clusters/shop/kubeconfig", h.job("check_run_id", "9001"), nil, http.StatusAccepted, &of)
	row, err := h.store.Access.One(t.Context(), made.ClusterID, of.AccessID)
	require.NoError(t, err)
	require.Equal(t, time.Hour, row.Lifetime, "the one of the create lasts eight")
}
