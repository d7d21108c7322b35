package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/devstack/oidc"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/runs"
)

func TestARunsKubeconfigEndsWithTheRun(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	var made Accepted
	h.create(h.job("check_run_id", "9001"), "shop", nil, http.StatusAccepted, &made)
	h.ready(made.ClusterID)
	path := "/api/v1/clusters/shop"
	answer, raw := h.ask(http.MethodGet, path+"/kubeconfig", h.job("check_run_id", "9001"), nil)
	require.Equal(t, http.StatusOK, answer.StatusCode, "the create made it: %s", raw)
	var other Access
	h.does(http.MethodGet, path+"/kubeconfig?role=view", h.job("check_run_id", "9002"), nil, http.StatusAccepted, &other)
	require.Equal(t, []any{made.Run.ID, AccessRole("view")}, []any{other.Run, other.Role})

	_, err := h.store.Runs.See(t.Context(), made.Run.ID, runs.Seen{Attempt: 1, State: lifecycle.RunFinished, Conclusion: "failure", UpdatedAt: time.Now(), Confirmed: true}, time.Time{})
	require.NoError(t, err)
	p := h.refused(http.MethodGet, path+"/kubeconfig", h.job("check_run_id", "9001"), nil, http.StatusConflict)
	require.Contains(t, p.Detail, "finished", p.Detail)
	list := h.accesses(path, oidc.Admin)
	require.Len(t, list, 2)
	for _, a := range list {
		require.Equal(t, []any{AccessState("revoked"), "its run finished"}, []any{a.State, a.RevokeWhy})
	}
	require.Len(t, h.runsAccess(made.ClusterID).Take, 1, "the one that was made")
}

func TestACreateMakesNothingForARunToWhichTheClusterIsNotBound(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	var made Accepted
	h.create(h.job(), "shop", map[string]any{"lifetime": "ttl"}, http.StatusAccepted, &made)
	list, err := h.store.Access.List(t.Context(), made.ClusterID, time.Hour)
	require.NoError(t, err)
	require.Empty(t, list, "it would not end with the run")
}

func TestAServiceAccountsKubeconfigEndsWithTheRunThatItNames(t *testing.T) {
	terms := embedded(t)
	terms.Identities = append(terms.Identities, profiles.Identity{
		Name: "tekton", Source: profiles.SourceOIDC, Match: map[string][]string{"kubernetes.io.namespace": {"ci"}}, Role: "requester", Teams: []string{"platform"},
	})
	h := fixtureWith(t, terms, nil)
	row := h.make(oidc.Admin, "shop")
	h.ready(row.ClusterID)
	path := "/api/v1/clusters/" + row.ClusterID
	var of, none Access
	h.does(http.MethodGet, path+"/kubeconfig?runKind=PipelineRun&runName=e2e&runUid=u-1", h.as(oidc.Kubernetes), nil, http.StatusAccepted, &of)
	require.NotEmpty(t, of.Run)
	_, err := h.store.Runs.Run(t.Context(), of.Run)
	require.NoError(t, err)
	h.does(http.MethodGet, path+"/kubeconfig", h.as(oidc.Kubernetes), nil, http.StatusAccepted, &none)
	require.Empty(t, none.Run, "it names no run, so it is another access")
	_, err = h.store.Runs.Run(t.Context(), "run_none")
	require.ErrorIs(t, err, store.ErrNotFound)
}
