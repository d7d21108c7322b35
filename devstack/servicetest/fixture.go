package servicetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/pulls"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	wire "github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/policy/rules"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

// What a fixture's pull request 41 is about.
const (
	Repo         = "acme/shop"
	Installation = 5001 // of the App on every repository
	Profile      = "aws-minimal-test"
	Label        = "ocp/" + Profile
	Grace        = 10 * time.Minute // how long a cluster outlives its pull request
	OwnLogin     = "ocpctl[bot]"    // what the App is called on GitHub
)

// Fixture is every application service on a database of its own. GitHub is a stand-in, and no runner installs anything.
type Fixture struct {
	*testing.T
	URL       string // of the database
	Store     *store.Store
	Service   Services
	Catalogue catalogue.Catalogue // in force: a test may change it
	GitHub    *GitHub
	Shelf     Shelf
	Clock     time.Time // GitHub's, at the last event: every event is a second later
	settings  policy.Settings
}

// Services are the application's services as one.
type Services struct {
	*coreService
	*credentialsService
	*adminService
	*pullsService
	Slack *slackapp.Service
}

type (
	coreService        = app.Service
	credentialsService = credentials.Service
	adminService       = admin.Service
	pullsService       = pulls.Service
)

// Wire wires all services with one configuration.
func Wire(c app.Config) Services {
	core := app.New(c)
	links := credentials.New(core, c)
	oversight := admin.New(core, c)
	return Services{core, links, oversight, pulls.New(core, links, c), slackapp.New(core, links, oversight, nil, c)}
}

// New returns a fixture with the program's own catalogue.
func New(t *testing.T) *Fixture {
	t.Helper()
	return With(t, Catalogue(t, nil))
}

// With returns a fixture with another catalogue, and with settings that the given functions changed.
func With(t *testing.T, terms catalogue.Catalogue, set ...func(*policy.Settings)) *Fixture {
	t.Helper()
	h := &Fixture{
		T: t, URL: pgtest.New(t), Catalogue: terms, GitHub: newGitHub(), Shelf: Shelf{},
		Clock: time.Now().Add(-time.Hour).Truncate(time.Second).UTC(), settings: policy.Settings{Grace: Grace, Installation: "test"},
	}
	for _, s := range set {
		s(&h.settings)
	}
	h.Store = Store(t, h.URL)
	h.Service = Wire(h.Config())
	return h
}

// Config is the configuration of the fixture's services. A test that needs services beside them changes it and calls Wire.
func (h *Fixture) Config() app.Config {
	return app.Config{
		Store: h.Store, Catalogue: func() catalogue.Catalogue { return h.Catalogue }, GitHub: h.GitHub, Artifacts: h.Shelf, Policy: h.settings,
		Repositories: []app.Repository{
			{Match: "acme/*", Ownership: policy.Ownership{Team: "platform", Owner: "maya", CostCenter: "sandbox", Environment: "test"}},
		},
		Installs: app.Installs{PullSecretRef: "file:/run/pull-secret", Clouds: map[string]app.Cloud{"aws": {Account: "123456789012"}}},
		UI:       "http://127.0.0.1:8080",
	}
}

// Careful returns the program's own catalogue with a rule that asks for an approval of every cluster, by these terms; maya on
// GitHub is a platform admin in it.
func Careful(t testing.TB, terms profiles.ApprovalTerms) catalogue.Catalogue {
	t.Helper()
	b := Catalogue(t, nil)
	set, problems := rules.Compile([]profiles.Policy{{Name: "careful", Rules: []profiles.Rule{
		{Name: "all", When: "true", Effect: profiles.EffectRequireApproval, Message: "Somebody has to agree.", Approval: terms},
	}}})
	require.Empty(t, problems)
	b.Rules = set
	b.Identities = append(b.Identities, profiles.Identity{
		Name: "admins", Source: profiles.SourceGitHub, Match: map[string][]string{"login": {"maya"}}, Role: "platform_admin", Teams: []string{"*"},
	})
	return b
}

// AdminProof is what an admin proves by SAML, with the program's own catalogue.
func AdminProof() *policy.Claims {
	return &policy.Claims{Source: profiles.SourceSAML, Subject: "ada@acme.example", Name: "Ada", Values: map[string][]string{"groups": {"ocpctl-admins"}}}
}

// tester is a test, or one of many lives of one.
type tester interface {
	require.TestingT
	Helper()
}

// OfJob is the principal of a job of the stand-in GitHub, as the job's token proves it.
func OfJob(t tester, server *github.Server, job int64) policy.Principal {
	t.Helper()
	claims, err := server.Runs().Claims(job)
	require.NoError(t, err)
	proof := policy.Claims{
		Source: profiles.SourceOIDC, Issuer: profiles.JobIssuer(wire.Site(server.URL())), Platform: profiles.IssuerGitHub, Subject: fmt.Sprint(claims["sub"]),
		Values: map[string][]string{},
	}
	for name, value := range claims {
		proof.Values[name] = []string{fmt.Sprint(value)}
	}
	p := policy.As("oidc:"+proof.Issuer+"#"+proof.Subject, "acme/shop", policy.Requester, "platform")
	p.Proof = &proof
	return p
}
