package api

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/runs"
)

// withWorkflows is the embedded catalogue with an identity for the workflows of acme's repositories.
func withWorkflows(t testing.TB) catalogue.Catalogue {
	t.Helper()
	terms := embedded(t)
	terms.Identities = append(terms.Identities, profiles.Identity{
		Name: "workflows", Source: profiles.SourceOIDC, Issuer: "https://jobs.example", Match: map[string][]string{"repository": {"acme/*"}}, Role: "requester", Teams: []string{"platform"},
	})
	return terms
}

// job is the token of a job of a run of acme/shop.
func (h *fixture) job(claims ...string) string {
	h.Helper()
	c := oidc.GitHubActions
	c.More = map[string]any{}
	maps.Copy(c.More, oidc.GitHubActions.More)
	for i := 0; i+1 < len(claims); i += 2 {
		if c.More[claims[i]] = claims[i+1]; claims[i+1] == "" {
			delete(c.More, claims[i])
		}
	}
	return h.as(c)
}

// wanting is a request for a cluster that says this of its run; nil: nothing.
func wanting(name string, run any) map[string]any {
	body := map[string]any{"name": name, "profile": "aws-minimal-test", "costCenter": "sandbox", "environment": "test"}
	if run != nil {
		body["run"] = run
	}
	return body
}

// create asks for a cluster as a run.
func (h *fixture) create(bearer, name string, run any, status int, into any) *http.Response {
	h.Helper()
	return h.does(http.MethodPost, "/api/v1/clusters", bearer, wanting(name, run), status, into, idempotencyKey, "create-"+name)
}

func TestARunsClusterNamesItsRun(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	var made v1.Accepted
	h.create(h.job(), "shop", nil, http.StatusAccepted, &made)
	require.Equal(t, v1.ClusterRun{
		ID: made.Run.ID, Platform: v1.Github, Key: "7001", Repo: "acme/shop", Name: "e2e", URL: "https://github.com/acme/shop/actions/runs/7001", Attempt: 1,
		Lifetime: v1.ClusterRunLifetimeRun, State: v1.Running, Watched: true,
	}, made.Run)
	require.True(t, strings.HasSuffix(made.Message, "It ends with the run."), made.Message)
	var c v1.ClusterDetail
	h.does(http.MethodGet, "/api/v1/clusters/shop", h.job(), nil, http.StatusOK, &c)
	require.Equal(t, made.Run, c.Run)
	var page v1.ClusterPage
	h.does(http.MethodGet, "/api/v1/clusters?run="+made.Run.URL+"/attempts/1", h.job(), nil, http.StatusOK, &page)
	require.Len(t, page.Items, 1)

	p := h.refused(http.MethodPost, "/api/v1/clusters", h.job(), wanting("shop-2", nil), http.StatusConflict, idempotencyKey, "2")
	require.Contains(t, p.Detail, "The run has the cluster shop in this slot.")
	var again v1.Accepted
	h.create(h.job("run_attempt", "2"), "shop-2", map[string]any{"reuse": "run"}, http.StatusAccepted, &again)
	require.True(t, again.Reused)
	require.Equal(t, made.ClusterID, again.ClusterID)
	require.Equal(t, 2, again.Run.Attempt)
	var verdict v1.Verdict
	h.does(http.MethodPost, "/api/v1/dry-run", h.job("run_attempt", "2"), wanting("x", map[string]any{"reuse": "run"}), http.StatusOK, &verdict)
	require.True(t, verdict.Allowed)
	require.Equal(t, "shop", verdict.Name)
	p = h.refused(http.MethodPost, "/api/v1/clusters", h.job(), wanting("shop-3", nil), http.StatusConflict, idempotencyKey, "3")
	require.Contains(t, p.Detail, "Attempt 2 of the run has replaced this one")

	var free v1.Accepted
	h.create(h.job("run_id", "7002"), "free", map[string]any{"lifetime": "ttl"}, http.StatusAccepted, &free)
	require.Zero(t, free.Run)
}

func TestWhatARequestSaysOfItsRunIsCheckedFieldByField(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	for _, c := range []struct {
		bearer string
		run    any
		fields []string
	}{
		{h.as(oidc.Requester), map[string]any{}, []string{"run"}},
		{h.as(oidc.Requester), map[string]any{"reuse": "run"}, []string{"run"}},
		{h.job(), "run", []string{"run"}},
		{h.job(), map[string]any{"reuse": "always", "lifetime": "day", "slot": strings.Repeat("x", 101)}, []string{"run.reuse", "run.slot", "run.lifetime"}},
		{h.job(), map[string]any{"slot": 3}, []string{"run.slot"}},
		{h.job(), map[string]any{"slots": "3"}, []string{"run.slots"}},
		{h.job("check_run_id", ""), map[string]any{"lifetime": "job"}, []string{"run.lifetime"}},
		{h.job(), map[string]any{"lifetime": "ttl", "reuse": "run"}, []string{"run.lifetime"}},
		{h.job(), map[string]any{"reuse": "pull-request"}, []string{"run.reuse"}},
		{h.job(), map[string]any{"onReady": "email"}, []string{"run.onReady"}},
		{h.job(), map[string]any{"onReady": "dispatch", "lifetime": "job"}, []string{"run.onReady"}},
		{h.job(), map[string]any{"onReady": []string{"dispatch"}}, []string{"run.onReady"}},
		{h.job("ref", "refs/pull/41/merge", "event_name", "pull_request"), map[string]any{"reuse": "pull-request", "lifetime": "job"}, []string{"run.lifetime"}},
	} {
		p := h.refused(http.MethodPost, "/api/v1/clusters", c.bearer, wanting("shop", c.run),
			http.StatusUnprocessableEntity, idempotencyKey, "x")
		var fields []string
		for _, e := range p.Errors {
			fields = append(fields, e.Field)
			require.NotEmpty(t, e.Accepted, "%v: %s", c.run, e.Field)
		}
		require.Equal(t, c.fields, fields, "%v", c.run)
	}
}

func TestAWorkflowThatAnybodyTriggersIsToldWhyItHasNoRole(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	target := h.job("event_name", "pull_request_target")
	p := h.refused(http.MethodPost, "/api/v1/clusters", target, wanting("shop", nil), http.StatusForbidden, idempotencyKey, "x")
	require.Contains(t, p.Detail, "This workflow was triggered by pull_request_target, which anybody who opens a pull request can do")
	p = h.refused(http.MethodGet, "/api/v1/clusters", target, nil, http.StatusForbidden)
	require.Contains(t, p.Detail, "event_name: [pull_request_target]")
}

func TestARunThatDoesNotWaitIsToldByASignal(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	var made v1.Accepted
	h.create(h.job(), "shop", map[string]any{"onReady": "deployment"}, http.StatusAccepted, &made)
	var c v1.ClusterDetail
	h.does(http.MethodGet, "/api/v1/clusters/shop", h.job(), nil, http.StatusOK, &c)
	require.Equal(t, v1.ClusterSignal{Kind: v1.ClusterSignalKindDeployment}, c.Signal)
	require.Zero(t, c.SavedSeconds, "it is not ready")
	g := h.signal(made.ClusterID)
	require.NoError(t, h.store.Runs.Told(t.Context(), g, lifecycle.SignalBegun))
	h.does(http.MethodGet, "/api/v1/clusters/shop", h.job(), nil, http.StatusOK, &c)
	require.Equal(t, v1.ClusterSignal{Kind: v1.ClusterSignalKindDeployment, Told: v1.ClusterSignalToldBegun}, c.Signal)
	require.NoError(t, h.store.Runs.NotTold(t.Context(), g, "GitHub refuses it."))
	h.does(http.MethodGet, "/api/v1/clusters/shop", h.job(), nil, http.StatusOK, &c)
	require.Equal(t, "GitHub refuses it.", c.Signal.Problem)

	again := map[string]any{"onReady": "dispatch", "reuse": "run"}
	h.create(h.job("run_attempt", "2"), "shop-2", again, http.StatusAccepted, &made)
	require.True(t, made.Reused)
	require.Equal(t, lifecycle.SignalDispatch, h.signal(made.ClusterID).Kind)
	h.create(h.job("run_id", "7002"), "free", map[string]any{"lifetime": "ttl", "onReady": "dispatch"}, http.StatusAccepted, &made)
	require.Equal(t, lifecycle.SignalDispatch, h.signal(made.ClusterID).Kind, "the cluster outlives the run, which is told nevertheless")
	var none v1.Accepted
	h.create(h.job("run_id", "7003"), "silent", map[string]any{"onReady": "none"}, http.StatusAccepted, &none)
	var silent v1.ClusterDetail
	h.does(http.MethodGet, "/api/v1/clusters/silent", h.job(), nil, http.StatusOK, &silent)
	require.Zero(t, silent.Signal)
}

// signal is the newest signal of a cluster.
func (h *fixture) signal(cluster string) runs.Signal {
	h.Helper()
	var id string
	require.NoError(h, h.store.Pool().QueryRow(h.Context(), `SELECT id FROM signals WHERE cluster_id = $1 ORDER BY asked_at DESC LIMIT 1`, cluster).Scan(&id))
	g, err := h.store.Runs.Signal(h.Context(), id)
	require.NoError(h, err)
	return g
}

func TestRunsTakeTurnsOnACluster(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	row := h.accept("shop", "platform")
	uses := "/api/v1/clusters/" + row.ID + "/uses"
	one, two := h.job(), h.job("run_id", "7002", "check_run_id", "9002")
	require.Contains(t, h.refused(http.MethodPost, uses, one, map[string]any{}, http.StatusForbidden).Detail, "belongs neither to this run nor to its pull request", "a turn is no way around")
	h.does(http.MethodPost, "/api/v1/clusters/shop/shares", h.as(oidc.Requester), v1.ShareRequest{Kind: "principal", With: h.id(oidc.GitHubActions), Access: "use"}, http.StatusOK, nil)
	var first, second, now v1.Use
	h.does(http.MethodPost, uses, one, map[string]any{}, http.StatusCreated, &first)
	require.Equal(t, []any{v1.UseStateGranted, true, 0}, []any{first.State, first.Mine, first.Position})
	h.does(http.MethodPost, uses, two, nil, http.StatusCreated, &second)
	require.Equal(t, v1.UseStateWaiting, second.State)
	require.Equal(t, []v1.UseAhead{{Run: "https://github.com/acme/shop/actions/runs/7001", Since: first.GrantedAt}}, second.Ahead)
	require.Equal(t, 1, second.Position)
	h.does(http.MethodPost, uses, two, map[string]any{}, http.StatusOK, &now)
	require.Equal(t, second.ID, now.ID)

	h.does(http.MethodDelete, uses+"/"+first.ID, one, nil, http.StatusOK, &now)
	require.Equal(t, []any{v1.UseStateReleased, "its run released it"}, []any{now.State, now.Why})
	h.does(http.MethodGet, uses+"/"+second.ID, two, nil, http.StatusOK, &now)
	require.Equal(t, v1.UseStateGranted, now.State)
	var all v1.Uses
	h.does(http.MethodGet, uses, one, nil, http.StatusOK, &all)
	require.Len(t, all.Items, 2)
	require.Equal(t, []bool{false, true}, []bool{all.Items[0].Mine, all.Items[1].Mine})

	p := h.refused(http.MethodPost, uses, h.as(oidc.Requester), map[string]any{}, http.StatusUnprocessableEntity)
	require.Contains(t, p.Detail, "A turn belongs to the run of a pipeline")
	h.refused(http.MethodGet, uses+"/none", one, nil, http.StatusNotFound)
	h.does(http.MethodDelete, uses+"/"+second.ID, h.as(oidc.Requester), nil, http.StatusOK, &now)
	require.Equal(t, "Maya asked for it", now.Why, "somebody who may destroy the cluster may end a turn")
}

func TestARunReusesTheClusterOfItsPullRequest(t *testing.T) {
	h := fixtureWith(t, withWorkflows(t), nil)
	pull := h.job("ref", "refs/pull/41/merge", "event_name", "pull_request", "sub", "repo:acme/shop:pull_request")
	reuse := map[string]any{"profile": "aws-minimal-test", "run": map[string]any{"reuse": "pull-request"}}
	p := h.refused(http.MethodPost, "/api/v1/clusters", pull, reuse, http.StatusServiceUnavailable, idempotencyKey, "first")
	require.Contains(t, p.Detail, "Nothing is known of acme/shop#41 yet, and GitHub is being asked.")

	seen := pullrequests.PullRequest{
		Installation: 5001, Repo: "acme/shop", Number: 41, Open: true, Author: "will", Association: "MEMBER", Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e",
		HeadRef: "try", Base: "main", RepoID: 1001, UpdatedAt: time.Now(),
	}
	_, err := h.store.PullRequests.SeePullRequest(t.Context(), seen, false)
	require.NoError(t, err)
	var made, again, verdict v1.Accepted
	h.does(http.MethodPost, "/api/v1/clusters", pull, reuse, http.StatusAccepted, &made, idempotencyKey, "first")
	require.Equal(t, []any{false, "pr41-shop", v1.ClusterRun{}}, []any{made.Reused, made.Name, made.Run})
	row, err := h.store.Cluster(t.Context(), made.ClusterID)
	require.NoError(t, err)
	require.Equal(t, &clusters.PRRef{Installation: 5001, Repo: "acme/shop", Number: 41, Head: seen.Head}, row.PR)
	require.Equal(t, []string{"platform", "api"}, []string{row.Team, row.Source})
	next := h.job("ref", "refs/pull/41/merge", "event_name", "pull_request", "run_id", "7002", "sub", "repo:acme/shop:pull_request")
	h.does(http.MethodPost, "/api/v1/clusters", next, reuse, http.StatusAccepted, &again, idempotencyKey, "second")
	require.Equal(t, []any{true, made.ClusterID}, []any{again.Reused, again.ClusterID})
	h.does(http.MethodPost, "/api/v1/dry-run", next, reuse, http.StatusOK, &verdict)
	require.Equal(t, "pr41-shop", verdict.Name)

	_, err = h.store.Destroy(t.Context(), made.ClusterID, clusters.Origin{Actor: "maya", Why: "enough"})
	require.NoError(t, err)
	h.does(http.MethodPost, "/api/v1/clusters", next, reuse, http.StatusAccepted, &again, idempotencyKey, "third")
	require.NotEqual(t, made.ClusterID, again.ClusterID)
	seen.Open, seen.UpdatedAt = false, seen.UpdatedAt.Add(time.Minute)
	_, err = h.store.PullRequests.SeePullRequest(t.Context(), seen, false)
	require.NoError(t, err)
	p = h.refused(http.MethodPost, "/api/v1/clusters", next, reuse, http.StatusConflict, idempotencyKey, "closed")
	require.Contains(t, p.Detail, "acme/shop#41 is closed")
	other := []string{"ref", "refs/pull/41/merge", "event_name", "pull_request", "repository_id", "1002", "sub", "repo:acme/shop:pull_request"}
	h.refused(http.MethodPost, "/api/v1/clusters", h.job(append(other, "repository", "acme/store")...), reuse, http.StatusServiceUnavailable, idempotencyKey, "another-repository")
	h.refused(http.MethodPost, "/api/v1/clusters", h.job(other...), reuse, http.StatusForbidden, idempotencyKey, "one-with-its-name")
}
