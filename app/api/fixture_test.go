package api

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/token"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/usage"
)

var limits = servicetest.Limits()

type shelf = servicetest.Shelf

// fixture is the private listener over real HTTP, on a database and an issuer of its own. Every request and every answer is held
// against openapi.yaml.
type fixture struct {
	*testing.T
	*httptest.Server
	url   string // of the database
	store *store.Store
	app   app.Config

	Credentials  *credentials.Service
	issuer, jobs *oidc.Issuer // of people, and of the jobs of workflows
	tokens       *token.Signer
	shelf        shelf
	github       *githubAnswers
}

// people answers for GitHub.
type githubAnswers struct {
	app.GitHub
	permission string
}

func (p *githubAnswers) Permission(context.Context, int64, string, app.GitHubAccount) (string, error) {
	return p.permission, nil
}

func (*githubAnswers) AccountID(context.Context, int64, string) (int64, error) { return 0, nil }

func (p *githubAnswers) PullRequest(context.Context, int64, string, int) (pullrequests.PullRequest, error) {
	return pullrequests.PullRequest{}, errors.New("no such pull request")
}

func (p *githubAnswers) InstallationOf(_ context.Context, repo string) (int64, error) {
	return map[string]int64{"acme/shop": 5001, "acme/api": 5001}[repo], nil
}

func (p *githubAnswers) Repository(context.Context, int64, string) (app.RepositoryState, error) {
	return app.RepositoryState{}, nil
}

func newFixture(t *testing.T) *fixture { return fixtureWith(t, embedded(t), nil) }

// embedded is the program's own catalogue, with IBM Cloud off.
func embedded(t testing.TB) catalogue.Catalogue { return servicetest.Catalogue(t, nil) }

// fixtureWith is a fixture with a catalogue of its own, and what else a test changes.
func fixtureWith(t *testing.T, terms catalogue.Catalogue, change func(*Config)) *fixture {
	h := &fixture{T: t, url: pgtest.New(t), shelf: shelf{}, github: &githubAnswers{permission: "write"}}
	h.store = servicetest.Store(t, h.url)
	var err error
	h.issuer, h.jobs = servicetest.Issuer(t), servicetest.Issuer(t)
	servicetest.Issue(terms, map[string]string{"https://issuer.example": h.issuer.URL(), "https://jobs.example": h.jobs.URL()})
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	h.tokens = token.NewSigner(key, time.Hour)
	h.app = appConfig(h.store, terms, h.shelf, h.github)
	h.Credentials = credentials.New(app.New(h.app), h.app)
	h.Server = serve(t, h.config(h.store, h.app, terms, change))
	return h
}

func appConfig(s *store.Store, terms catalogue.Catalogue, files shelf, gh app.GitHub) app.Config {
	return app.Config{
		Store: s, Artifacts: files, Catalogue: func() catalogue.Catalogue { return terms }, GitHub: gh, UI: "http://ocpctl.test", GitHubSite: "https://github.com",
		Policy: policy.Settings{Installation: "test"}, Installs: app.Installs{PullSecretRef: "file:/run/pull-secret", SSHKey: "ssh-rsa ours", Clouds: map[string]app.Cloud{"aws": {Account: "123456789012"}}},
		Repositories: []app.Repository{{Match: "acme/*", Ownership: policy.Ownership{Team: "platform", Owner: "maya", CostCenter: "sandbox", Environment: "test"}}},
	}
}

func (h *fixture) config(s *store.Store, a app.Config, terms catalogue.Catalogue, change func(*Config)) Config {
	core := app.New(a)
	c := Config{
		App: core, Admin: admin.New(core, a), Costs: costs.New(a), Credentials: credentials.New(core, a), Store: s, Tokens: h.tokens, UI: "http://ocpctl.test", Pace: NewPace(Rate{PerSecond: -1}, nil),
		Log: slog.New(slog.NewTextHandler(h.T.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		Auth: auth.New(auth.Config{
			Issuers: []auth.Issuer{
				{URL: h.issuer.URL(), Audience: oidc.Audience}, {URL: h.jobs.URL(), Audience: oidc.Audience, Platform: profiles.IssuerGitHub},
			},
			Identities: func() []profiles.Identity { return terms.Identities }, Reused: core.ReusedNames,
		}),
		Runner: RunnerSettings{
			Installation: "test", Bucket: "artifacts", Lease: time.Minute, Heartbeat: 15 * time.Second, VerifyGap: 3 * time.Minute,
		},
	}
	if change != nil {
		change(&c)
	}
	return c
}

func serve(t testing.TB, c Config) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(New(c))
	t.Cleanup(server.Close)
	return server
}

// as is the bearer token of a principal.
func (h *fixture) as(c oidc.Claims) string {
	h.Helper()
	raw, err := h.issuerOf(c).Token(c)
	require.NoError(h, err)
	return raw
}

// issuerOf is the issuer of a principal's tokens: jobs of workflows have one of their own.
func (h *fixture) issuerOf(c oidc.Claims) *oidc.Issuer {
	if c.More["run_id"] != nil {
		return h.jobs
	}
	return h.issuer
}

// ask does one request and returns the status and the whole answer.
func (h *fixture) ask(method, path, bearer string, body any, headers ...string) (*http.Response, []byte) {
	h.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		in = bytes.NewReader(b)
	default:
		raw, err := json.Marshal(body)
		require.NoError(h, err)
		in = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(h.Context(), method, h.Server.URL+path, in)
	require.NoError(h, err)
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := (&http.Client{Transport: contractual{h.T}}).Do(r)
	require.NoError(h, err)
	defer answer.Body.Close()
	out, err := io.ReadAll(answer.Body)
	require.NoError(h, err)
	return answer, out
}

// does asks and reads a document of the status.
func (h *fixture) does(method, path, bearer string, body any, status int, into any, headers ...string) *http.Response {
	h.Helper()
	answer, raw := h.ask(method, path, bearer, body, headers...)
	require.Equal(h, status, answer.StatusCode, "%s", raw)
	if into != nil {
		require.NoError(h, json.Unmarshal(raw, into), "%s", raw)
	}
	return answer
}

// get asks as the demo's requester and reads a 200.
func (h *fixture) get(path string, into any) {
	h.Helper()
	answer, body := h.ask(http.MethodGet, path, h.as(oidc.Requester), nil)
	require.Equal(h, http.StatusOK, answer.StatusCode, "%s", body)
	require.NoError(h, json.Unmarshal(body, into), "%s", body)
}

// refused asks and reads a problem.
func (h *fixture) refused(method, path, bearer string, body any, status int, headers ...string) v1.Problem {
	h.Helper()
	answer, raw := h.ask(method, path, bearer, body, headers...)
	require.Equal(h, status, answer.StatusCode, "%s", raw)
	require.Equal(h, "application/problem+json", answer.Header.Get("Content-Type"))
	var p v1.Problem
	require.NoError(h, json.Unmarshal(raw, &p))
	require.Equal(h, status, p.Status)
	require.NotEmpty(h, p.Detail)
	return p
}

// accept writes a cluster as the service does.
func (h *fixture) accept(name, team string) clusters.Row {
	h.Helper()
	return h.acceptOn("labs.example.com", name, team)
}

func (h *fixture) acceptOn(domain, name, team string) clusters.Row {
	h.Helper()
	row := clusters.Row{
		Source: string(policy.SourceLabel), CostCenter: "sandbox", Environment: "test", Tags: map[string]string{"Owner": "maya"},
		PR: &clusters.PRRef{Installation: 5001, Repo: "acme/" + name, Number: 41, Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e"},
		Spec: clusters.Spec{
			InstallConfig: "apiVersion: v1\nbaseDomain: labs.example.com\npublish: External\n", Zones: []string{"us-east-1a"}, PullSecretRef: "file:/run/pull-secret",
			Account: "123456789012", CreateDeadline: time.Hour, DestroyDeadline: time.Hour,
		},
	}
	row.Name, row.Platform, row.Profile, row.Release, row.Region = name, "aws", "aws-minimal-test", "4.20.3", "us-east-1"
	row.BaseDomain, row.Owner, row.Team, row.RequestedBy = domain, "maya", team, "github:maya"
	row.TTL, row.HourlyCents, row.MaxTries = time.Hour, 75, 2
	judged, err := h.store.Judge(h.Context(), store.Ask{
		Scope:     usage.Scope{Person: row.RequestedBy, Team: row.Team, Repo: row.PR.Repo},
		Principal: row.RequestedBy, Source: row.Source,
	}, func(usage.Usage) (store.Judgement, error) {
		return store.Judgement{Allowed: true, Row: row, MaxTTL: 2 * time.Hour, Verdict: []byte(`{"allowed":true}`)}, nil
	})
	require.NoError(h, err)
	return judged.Row
}

// step lets the controller decide once about a cluster.
func (h *fixture) step(id string) {
	h.Helper()
	cluster, facts, err := h.store.Load(h.Context(), id)
	require.NoError(h, err)
	require.NoError(h, h.store.Apply(h.Context(), lifecycle.Decide(cluster, facts, limits), cluster.Version))
}

// attempt is the open attempt of a cluster and its first token.
func (h *fixture) attempt(id string) (attempts.LaunchSpec, string) {
	h.Helper()
	open, err := h.store.Attempts.OpenAttempt(h.Context(), id)
	require.NoError(h, err)
	require.True(h, open.Open)
	raw, err := h.tokens.Sign(open.Attempt, open.Token, time.Now())
	require.NoError(h, err)
	return open, raw
}
