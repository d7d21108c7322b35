package web

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/auth"
	"github.com/ocpctl/ocpctl/app/commandline"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/attack/matrix"
	standin "github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/oidc"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/saml"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/internal/eventstream"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/usage"
)

// people answers for GitHub: everybody may write, and nothing of a pull request is asked.
type githubAnswers struct{ app.GitHub }

func (githubAnswers) Permission(context.Context, int64, string, app.GitHubAccount) (string, error) {
	return "write", nil
}

func (githubAnswers) AccountID(_ context.Context, _ int64, login string) (int64, error) {
	return servicetest.AccountID(login), nil
}

func (githubAnswers) PullRequest(context.Context, int64, string, int) (pullrequests.PullRequest, error) {
	return pullrequests.PullRequest{}, errors.New("no such pull request")
}

// fixture is the pages over real HTTP, on a service and a database of their own.
type fixture struct {
	testing.TB
	base     string
	provider *saml.Provider
	issuer   *oidc.Issuer
	store    *store.Store
	service  *app.Service

	app app.Config

	Credentials *credentials.Service
	shelf       servicetest.Shelf
	key         ed25519.PrivateKey // of the sessions; every replica has the same

	stopping context.Context // of the pages' streams
	streams  *eventstream.Places
	live     liveTimes

	clouds []profiles.Account // of the catalogue
	cohort string             // of all teams of the catalogue; empty: none
	proves bool               // people prove on GitHub that an account is theirs; else the account types a code
	github *standin.Server    // with proves

	identities *atomic.Pointer[[]profiles.Identity] // of the catalogue; nil: those of the terms
}

func newFixture(t testing.TB) *fixture { return newFixtureWith(t, func(*fixture) {}) }

func newFixtureWith(t testing.TB, change func(*fixture)) *fixture {
	h := &fixture{TB: t, shelf: servicetest.Shelf{}, streams: &eventstream.Places{}, identities: &atomic.Pointer[[]profiles.Identity]{}}
	change(h)
	var err error
	h.store = servicetest.Store(t, pgtest.New(t))
	server := httptest.NewUnstartedServer(nil)
	h.base = "http://" + server.Listener.Addr().String()
	if h.proves {
		h.github, err = standin.Start(t.Context(), standin.Config{ClientSecret: "s3cret", CallbackURL: h.base + ProofPath})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, h.github.Stop()) })
	}
	h.provider, err = saml.Start(t.Context(), saml.Config{Home: h.base})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.provider.Stop()) })
	h.issuer = servicetest.Issuer(t)
	terms := ownCatalogue(t)
	terms.Accounts = h.clouds
	if h.cohort != "" {
		for i := range terms.Teams {
			terms.Teams[i].Cohort = h.cohort
		}
	}
	h.app = app.Config{
		RunnersIn: func(string) string { return "123456789012" },
		Store:     h.store, Artifacts: h.shelf, Catalogue: func() catalogue.Catalogue { return terms }, GitHub: githubAnswers{}, UI: h.base,
		Policy: policy.Settings{Installation: "test"}, Installs: app.Installs{PullSecretRef: "file:/run/pull-secret"},
	}
	h.service = app.New(h.app)
	h.Credentials = credentials.New(h.service, h.app)
	server.Config.Handler = h.handler(terms)
	server.Start()
	t.Cleanup(server.Close)
	return h
}

func (h *fixture) handler(terms catalogue.Catalogue) http.Handler {
	if h.key == nil {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		require.NoError(h, err)
		h.key = key
	}
	servicetest.Issue(terms, map[string]string{"https://issuer.example": h.issuer.URL(), "https://jobs.example": h.issuer.URL()})
	sessions := auth.NewSessions(auth.SessionConfig{Key: h.key, Audience: h.base})
	verifier := auth.New(auth.Config{
		Sessions: sessions, Identities: func() []profiles.Identity { return *cmp.Or(h.identities.Load(), &terms.Identities) }, End: h.store.People.EndSession, Ended: h.store.People.SessionEnded,
		Issuers: []auth.Issuer{{URL: h.issuer.URL(), Audience: oidc.Audience}},
	})
	signIn, err := auth.NewSignIn(auth.SAMLConfig{
		Provider: saml.Name, Metadata: h.provider.Metadata(), Home: h.base, Sessions: sessions, Verifier: verifier,
		Spend: func(context.Context, string, time.Time) (bool, error) { return true, nil },
	})
	require.NoError(h, err)
	lines := commandline.New(commandline.Config{Store: h.store.People, Sessions: sessions, Home: h.base})
	mux := http.NewServeMux()
	for _, path := range []string{commandline.AskPath, commandline.TokenPath, commandline.RevokePath} {
		mux.Handle(path, lines.Handler())
	}
	mux.Handle("/", New(Config{
		CommandLines:  lines,
		EndedSessions: h.store.People.EndedSessions, Stopping: h.stopping, Streams: h.streams, live: h.live,
		App: h.service, Admin: admin.New(h.service, h.app), Costs: costs.New(h.app), Credentials: h.Credentials, Demo: true, Slack: true, Auth: verifier, SignIn: signIn, Sessions: sessions, GitHub: "https://github.com",
		Owners: h.owners(),
		Log:    slog.New(slog.NewTextHandler(h.Output(), &slog.HandlerOptions{Level: slog.LevelError})),
	}))
	return mux
}

// owners is the proof at the stand-in of GitHub; nil: there is none.
func (h *fixture) owners() *github.Owners {
	if h.github == nil {
		return nil
	}
	owners, err := github.NewOwners(standin.ClientID, secret.New("s3cret"), h.github.URL(), h.base+ProofPath)
	require.NoError(h, err)
	return owners
}

// ownCatalogue is the program's own with teams, quotas and a rule of a test's.
func ownCatalogue(t testing.TB) catalogue.Catalogue {
	return servicetest.Catalogue(t, map[string]string{
		"teams/platform.yaml": "name: platform\nowner: maya\ncostCenters: [sandbox, platform-ci]\nenvironments: [test, staging]\nbudget: {monthlyDollars: 1000, hard: true}\n",
		"teams/payments.yaml": "name: payments\nowner: rob\ncostCenters: [payments]\nenvironments: [test]\n",
		"quotas/quotas.yaml":  "quotas:\n  - {name: team, scope: team, live: 4, creating: 3, nodeHours: 3000}\n  - {name: person, scope: person, live: 8}\n",
		"policies/long.yaml": "name: long\nrules:\n  - name: days\n    when: request.ttlHours > 48\n    effect: requireApproval\n" +
			"    message: More than two days take a platform admin's word.\n    next: Ask for 48 hours.\n",
		"pools/stock.yaml":       "name: stock\nprofile: aws-minimal-test\nteam: platform\nsize: 2\nmax: 6\nwaitingMonthlyDollars: 400\n",
		"pools/own.yaml":         "name: own\nprofile: aws-minimal-test\nteam: payments\nsize: 1\nmax: 1\nteams: [payments]\n",
		"identities/matrix.yaml": matrix.Identities,
		"identities/programs.yaml": "identities:\n" +
			"  - {name: actions, source: oidc, issuer: \"https://jobs.example\", match: {repository: [\"acme/*\"], ref: [refs/heads/main]}, role: requester, teams: [platform]}\n" +
			"  - {name: kubernetes, source: oidc, issuer: \"https://issuer.example\", match: {kubernetes.io.namespace: [ci]}, role: requester, teams: [payments]}\n",
	})
}

func (h *fixture) accept(name, team string) clusters.Row {
	h.Helper()
	row := clusters.Row{CostCenter: "sandbox", Source: string(policy.SourceLabel)}
	row.PR = &clusters.PRRef{Installation: 5001, Repo: "acme/" + name, Number: 41, Head: "6dcb09b"}
	row.Name, row.Platform, row.Profile, row.Release, row.Region = name, "aws", "aws-minimal-test", "4.20.3", "us-east-1"
	row.BaseDomain, row.Owner, row.Team, row.RequestedBy = "labs.example.com", "maya", team, "github:maya"
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

// sql changes the tables as no use case of the pages does.
func (h *fixture) sql(query string, args ...any) {
	h.Helper()
	_, err := h.store.Pool().Exec(h.Context(), query, args...)
	require.NoError(h, err)
}

// ready makes a cluster one that can be used.
func (h *fixture) ready(row clusters.Row) {
	h.Helper()
	servicetest.Ready(h, h.store, h.shelf, row)
}

// shown is a ready cluster of team platform whose workers can be scaled, with a share for sid and one for una.
func (h *fixture) shown(name string) clusters.Row {
	h.Helper()
	row := h.accept(name, "platform")
	h.ready(row)
	h.sql(`UPDATE clusters SET workers_base = 0, workers_least = 0, workers_most = 3, nodes = 3, sleep_mode = 'stopped' WHERE id = $1`, row.ID)
	h.sql(`INSERT INTO shares VALUES ($1, 'principal', $2, 'see', 'x', now(), ''), ($1, 'principal', $3, 'use', 'x', now(), 'edit')`, row.ID, h.id("sid"), h.id("una"))
	return row
}

// make has one of the cast ask for a cluster; hours above 48 need an approval.
func (h *fixture) make(who, name, team string, hours int) app.Created {
	h.Helper()
	made, err := h.service.Create(h.Context(), h.principal(who), app.CreateRequest{Source: policy.SourceWeb, Name: name, Team: team, TTL: time.Duration(hours) * time.Hour})
	require.NoError(h, err)
	require.NotEmpty(h, made.Row.ID, "%s", made.Verdict.Text())
	return made
}
