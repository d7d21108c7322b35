package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/store/outbox"
)

func TestTheListIsPagedAndFiltered(t *testing.T) {
	h := newFixture(t)
	var ids []string
	for i := range 5 {
		ids = append(ids, h.accept(fmt.Sprintf("shop-%d", i), "platform").ID)
	}
	slices.Reverse(ids)
	var seen []string
	cursor := ""
	for range 3 {
		var page v1.ClusterPage
		h.get("/api/v1/clusters?limit=2&cursor="+cursor, &page)
		for _, c := range page.Items {
			seen = append(seen, c.ClusterID)
		}
		cursor = page.NextCursor
	}
	require.Equal(t, ids, seen, "newest first, each once")
	require.Empty(t, cursor, "the last page has no next")
	for query, want := range map[string]int{
		"status=PENDING": 5, "status=READY": 0, "status=READY,PENDING": 5, "status=READY&status=PENDING": 5, "platform=aws": 5,
		"platform=ibmcloud": 0, "owner=maya": 5, "owner=will": 0, "team=platform": 5, "team=other": 0,
	} {
		var page v1.ClusterPage
		h.get("/api/v1/clusters?"+query, &page)
		require.Len(t, page.Items, want, query)
	}
}

func TestAMethodThatAPathDoesNotKnowIsToldWhichItDoes(t *testing.T) {
	h := newFixture(t)
	answer, _ := h.ask(http.MethodPut, "/api/v1/clusters", h.as(oidc.Requester), nil)
	require.Equal(t, http.StatusMethodNotAllowed, answer.StatusCode)
	require.Equal(t, "GET, POST", answer.Header.Get("Allow"))
	p := h.refused(http.MethodDelete, "/api/v1/clusters/x", h.as(oidc.Requester), nil, http.StatusMethodNotAllowed)
	require.Contains(t, p.Detail, "supports only GET")
	p = h.refused(http.MethodGet, "/api/v1/clusterz", h.as(oidc.Requester), nil, http.StatusNotFound)
	require.Contains(t, p.Detail, "/api/docs")
	answer, body := h.ask(http.MethodHead, "/api/v1/clusters", h.as(oidc.Requester), nil)
	require.Equal(t, []any{http.StatusOK, 0}, []any{answer.StatusCode, len(body)})
}

func TestEveryInvalidParameterIsNamedAtOnce(t *testing.T) {
	h := newFixture(t)
	p := h.refused(http.MethodGet, "/api/v1/clusters?status=ready&limit=0&cursor=x", h.as(oidc.Requester), nil, http.StatusBadRequest)
	var fields []string
	for _, e := range p.Errors {
		fields = append(fields, e.Field)
		require.NotEmpty(t, e.Accepted, e.Field)
	}
	require.ElementsMatch(t, []string{"status", "limit", "cursor"}, fields)
	require.Contains(t, p.Errors[0].Accepted, "READY")

	p = h.refused(http.MethodGet, "/api/v1/clusters?statuss=READY", h.as(oidc.Requester), nil, http.StatusBadRequest)
	require.Equal(t, "statuss", p.Errors[0].Field, "a misspelt filter shows not everything but its name")
	require.Contains(t, p.Errors[0].Accepted, "status")

	p = h.refused(http.MethodGet, "/api/v1/clusters?limit=ten", h.as(oidc.Requester), nil, http.StatusBadRequest)
	require.Equal(t, "limit", p.Errors[0].Field)
	h.refused(http.MethodGet, "/api/v1/jobs/job_x?lines=1001", h.as(oidc.Requester), nil, http.StatusBadRequest)
}

func TestAnotherTeamsClusterDoesNotExist(t *testing.T) {
	h := newFixture(t)
	row := h.accept("secretive", "security")
	var page v1.ClusterPage
	h.get("/api/v1/clusters", &page)
	require.Empty(t, page.Items)
	for _, path := range []string{"/api/v1/clusters/" + row.ID, "/api/v1/clusters/" + row.ID + "/outputs",
		"/api/v1/clusters/" + row.ID + "/kubeconfig", "/api/v1/jobs/" + row.JobID} {
		theirs := h.refused(http.MethodGet, path, h.as(oidc.Requester), nil, http.StatusNotFound)
		nobodys := h.refused(http.MethodGet, strings.ReplaceAll(strings.ReplaceAll(path, row.ID, "clu_x"), row.JobID, "job_x"),
			h.as(oidc.Requester), nil, http.StatusNotFound)
		require.Equal(t, strings.NewReplacer(row.ID, "clu_x", row.JobID, "job_x").Replace(theirs.Detail), nobodys.Detail)
	}
	for _, who := range []oidc.Claims{oidc.Admin, oidc.Auditor} {
		answer, _ := h.ask(http.MethodGet, "/api/v1/clusters/"+row.ID, h.as(who), nil)
		require.Equal(t, http.StatusOK, answer.StatusCode, who.Role)
	}
}

func TestAClusterIsShownWithItsJobAndItsHistory(t *testing.T) {
	h := newFixture(t)
	row := h.accept("shop", "platform")
	var c v1.ClusterDetail
	h.get("/api/v1/clusters/"+row.ID, &c)
	require.Equal(t, row.ID, c.ClusterID)
	require.Equal(t, v1.Status("PENDING"), c.Status)
	require.Equal(t, v1.PullRequest{Repo: "acme/shop", Number: 41, Head: row.PR.Head}, c.PullRequest)
	require.Equal(t, row.JobID, c.Job.JobID)
	require.Equal(t, "CREATE", c.Job.Type)
	require.Equal(t, "accepted", c.Timeline[0].Action)
	require.Equal(t, map[string]string{"Owner": "maya"}, c.Tags)

	var j v1.JobDetail
	h.get("/api/v1/jobs/"+row.JobID, &j)
	require.Equal(t, row.ID, j.ClusterID)
	require.NotNil(t, j.Log)
}

func TestWithoutAGoodTokenNothingIsShown(t *testing.T) {
	h := newFixture(t)
	row := h.accept("shop", "platform")
	foreign := oidc.Requester
	foreign.Audience = jwt.Audience{"vault"}
	for name, bearer := range map[string]string{"none": "", "junk": "abc", "for another": h.as(foreign)} {
		answer, _ := h.ask(http.MethodGet, "/api/v1/clusters/"+row.ID, bearer, nil)
		require.Equal(t, http.StatusUnauthorized, answer.StatusCode, name)
		require.Contains(t, answer.Header.Get("WWW-Authenticate"), "Bearer")
	}
	roleless := oidc.Requester
	roleless.Role = ""
	p := h.refused(http.MethodGet, "/api/v1/clusters", h.as(roleless), nil, http.StatusForbidden)
	require.Contains(t, p.Detail, "have no role")
}

func TestEveryOperationAsksForAToken(t *testing.T) {
	h := newFixture(t)
	for _, op := range listOperations(t) {
		path := strings.NewReplacer("{id}", "x", "{name}", "x", "{link}", "x").Replace(op.Path)
		if op.Security != nil && len(*op.Security) == 0 {
			answer, _ := h.ask(op.Method, path, "", nil)
			require.NotEqual(t, http.StatusUnauthorized, answer.StatusCode, op.ID)
			continue
		}
		h.refused(op.Method, path, "", nil, http.StatusUnauthorized)
		if strings.HasPrefix(op.Path, statusPath) {
			h.refused(op.Method, path, h.as(oidc.Admin), nil, http.StatusUnauthorized)
			continue
		}
		runner, err := h.tokens.Sign("x", "y", now())
		require.NoError(t, err)
		h.refused(op.Method, path, runner, nil, http.StatusUnauthorized)
	}
}

func TestAnIssuerThatIsDownIsNotTheCallersFault(t *testing.T) {
	h := newFixture(t)
	bearer := h.as(oidc.Requester)
	require.NoError(t, h.issuer.Stop())
	p := h.refused(http.MethodGet, "/api/v1/clusters", bearer, nil, http.StatusServiceUnavailable)
	require.Contains(t, p.Detail, "Try again")
}

func TestProbesAndMetricsTellTheState(t *testing.T) {
	h := newFixture(t)
	h.accept("shop", "platform")
	for _, path := range []string{"/healthz", "/readyz"} {
		answer, _ := h.ask(http.MethodGet, path, "", nil)
		require.Equal(t, http.StatusOK, answer.StatusCode, path)
	}
	var page v1.ClusterPage
	h.get("/api/v1/clusters", &page)
	require.NoError(t, h.store.Outbox.SeeBudget(t.Context(), outbox.GitHubBudget{Installation: 5001, Resource: "core", Allowed: 5000, Remaining: 40, ResetsAt: time.Now().Add(time.Hour)}))
	require.NoError(t, h.store.Outbox.SeeBudget(t.Context(), outbox.GitHubBudget{Installation: 5001, Resource: "graphql", Allowed: 5000, Remaining: 40, ResetsAt: time.Now()}))
	require.NoError(t, h.store.Outbox.GitHubAnswers(t.Context(), 5001, false))
	_, body := h.ask(http.MethodGet, "/metrics", "", nil)
	require.Regexp(t, `ocpctl_github_away_seconds\{installation="5001"\} [0-9.e-]*[1-9]`, string(body))
	for _, want := range []string{
		`ocpctl_clusters{status="PENDING"} 1`, `ocpctl_clusters{status="READY"} 0`, `ocpctl_jobs{status="PENDING",type="CREATE"} 1`,
		`ocpctl_findings{kind="stuck"} 0`, `ocpctl_redeliveries{state="given_up"} 0`,
		`ocpctl_github_calls_remaining{installation="5001",resource="core"} 40`, `ocpctl_github_calls_allowed{installation="5001",resource="core"} 5000`,
		`ocpctl_github_calls_remaining{installation="5001",resource="graphql"} 5000`,
		`ocpctl_http_request_duration_seconds_count{code="200",method="GET",route="GET /api/v1/clusters"} 1`,
	} {
		require.Contains(t, string(body), want)
	}
	h.store.Close()
	p := h.refused(http.MethodGet, "/readyz", "", nil, http.StatusServiceUnavailable)
	require.Contains(t, p.Detail, "PostgreSQL")
	answer, _ := h.ask(http.MethodGet, "/healthz", "", nil)
	require.Equal(t, http.StatusOK, answer.StatusCode, "the process is well")
	p = h.refused(http.MethodGet, "/api/v1/clusters", h.as(oidc.Admin), nil, http.StatusInternalServerError)
	require.NotContains(t, p.Detail, "pool")
}
