package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/profiles"
)

// asks is a request at the API of somebody with these seats.
func asks(p Principal) Request {
	return Request{Principal: p, Source: SourceAPI, Profile: "aws-minimal-test", Name: "mine", Generation: 1}
}

func TestWhoseItIsComesFromTheRequestTheTableOrTheTeam(t *testing.T) {
	maya, both := As("saml:maya", "maya", Requester, "shop"), As("saml:maya", "maya", Requester, "shop", "billing")
	for name, c := range map[string]struct {
		who    Principal
		change func(*Request)
		want   Ownership
	}{
		"nothing is said":        {maya, func(*Request) {}, Ownership{"shop", "maya", "cc-100", "test"}},
		"all is said":            {maya, func(r *Request) { r.Team, r.Owner, r.CostCenter, r.Environment = "shop", "will", "cc-200", "dev" }, Ownership{"shop", "will", "cc-200", "dev"}},
		"one of two teams":       {both, func(r *Request) { r.Team = "billing" }, Ownership{"billing", "maya", "cc-7", "prod"}},
		"a workload has no name": {Principal{ID: "oidc:x#y", Seats: maya.Seats}, func(*Request) {}, Ownership{"shop", "shop-leads", "cc-100", "test"}},
		"the table says":         {maya, func(r *Request) { repo(r, Ownership{"shop", "lead", "cc-9", "qa"}) }, Ownership{"shop", "lead", "cc-9", "qa"}},
		"the table says less":    {maya, func(r *Request) { repo(r, Ownership{Team: "shop"}) }, Ownership{"shop", "maya", "cc-100", "test"}},
		"another than the table": {both, func(r *Request) {
			repo(r, Ownership{"shop", "lead", "cc-9", "qa"})
			r.Team = "billing"
		}, Ownership{"billing", "lead", "cc-7", "prod"}},
	} {
		t.Run(name, func(t *testing.T) {
			terms := declaredTerms(t)
			terms.Catalogue.Teams[1].Owner = "shop-leads"
			r := asks(c.who)
			c.change(&r)
			v := Evaluate(r, Usage{}, terms, Settings{})
			require.True(t, v.Allowed, "%v", v.Refusals())
			require.Equal(t, c.want, v.Grant.Ownership)
		})
	}
}

func repo(r *Request, own Ownership) {
	r.PR, r.Ownership = &PullRequest{Repo: "acme/shop", Number: 1}, own
}

func TestWhoseItMayNotBe(t *testing.T) {
	maya := As("saml:maya", "maya", Requester, "shop", "shopping")
	for name, c := range map[string]struct {
		change            func(*Request)
		check, text, next string
	}{
		"a team that is not":         {func(r *Request) { r.Team = "shpo" }, "team", `maya is not known to belong to team "shpo".`, "Did you mean shop? Leave the team out, or choose one of: shop."},
		"a team of others":           {func(r *Request) { r.Team = "billing" }, "team", "maya is not known to belong", "Leave the team out, or choose one of: shop."},
		"a seat in no known team":    {func(r *Request) { r.Team = "shopping" }, "team", `There is no team "shopping".`, "Choose one of: shop."},
		"a table that is behind":     {func(r *Request) { repo(r, Ownership{"shops", "x", "y", "z"}) }, "team", `There is no team "shops".`, "correct the table's entry for acme/shop"},
		"a cost center off the list": {func(r *Request) { r.Team, r.CostCenter = "shop", "cc-7" }, "cost-center", `Cost center "cc-7" is not on the list of team shop.`, "Choose one of: cc-100, cc-200."},
		"an environment off it":      {func(r *Request) { r.Team, r.Environment = "shop", "prod" }, "environment", `Environment "prod" is not on`, "Choose one of: test, dev."},
		"said as if by the table":    {func(r *Request) { r.Ownership = Ownership{"shop", "maya", "cc-7", "test"} }, "cost-center", `Cost center "cc-7"`, "Choose one of"},
		"a repository of nobody":     {func(r *Request) { repo(r, Ownership{}); r.Team = "shop" }, "ownership", "acme/shop is not in", "add acme/shop"},
		"no team at all":             {func(*Request) {}, "ownership", "a valid team is missing.", "Name a team: shop."},
	} {
		t.Run(name, func(t *testing.T) {
			r := asks(maya)
			c.change(&r)
			v := Evaluate(r, Usage{}, declaredTerms(t), Settings{})
			require.False(t, v.Allowed)
			check := find(t, v, c.check)
			require.Equal(t, Fail, check.Result)
			require.Contains(t, check.Message, c.text)
			require.Contains(t, check.Next, c.next)
		})
	}
}

// What a stranger is told of a team is what anybody is told of one that is not.
func TestAStrangerLearnsNothingOfATeam(t *testing.T) {
	secrets := declaredTerms(t)
	secrets.Rules = objecting{defaults: func(in In) (Request, []Check) {
		require.Zero(t, in.Team)
		require.Zero(t, in.Usage.Team)
		return in.Request, nil
	}}
	used := Usage{Team: Counts{Live: 5, Creating: 3, NodeHours: 77, SpentCents: 49_999, CommittedCents: 1}}
	got := func(r Request, team string) string {
		r.Team = team
		raw, err := json.Marshal(Evaluate(r, used, secrets, Settings{}))
		require.NoError(t, err)
		return strings.ReplaceAll(string(raw), team, "that team")
	}
	for name, r := range map[string]Request{
		"of another team":       asks(As("saml:will", "will", Requester, "billing")),
		"who only looks":        asks(Principal{ID: "x", Name: "ada", Seats: []Seat{{Role: Requester, Team: "billing"}, {Role: Auditor, Team: EveryTeam}}}),
		"without a permission":  {Principal: Principal{ID: "github:rita", Name: "rita"}, Source: SourceComment, Permission: "read", PR: &PullRequest{Repo: "acme/web", Number: 1}},
		"with a cost center":    {Principal: As("x", "will", Requester, "billing"), Source: SourceAPI, CostCenter: "cc-9", Environment: "prod"},
		"of a repository table": {Principal: As("github:will", "will", Requester, "billing"), Source: SourceComment, Permission: "write", Ownership: Ownership{Team: "billing", CostCenter: "cc-7"}, PR: &PullRequest{Repo: "acme/web", Number: 1}},
	} {
		r.Profile = "aws-minimal-test"
		require.Equal(t, got(r, "nosuch"), got(r, "shop"), name)
	}
}

func TestASeatIsOfOneTeam(t *testing.T) {
	r := asks(Principal{ID: "x", Name: "maya", Seats: []Seat{{Role: Requester, Team: "shop"}, {Role: Auditor, Team: "billing"}, {Role: Auditor, Team: EveryTeam}}})
	r.Team = "billing"
	require.Equal(t, Fail, find(t, Evaluate(r, Usage{}, declaredTerms(t), Settings{}), "team").Result, "to look is not to create")
	r.Team = ""
	require.Equal(t, "shop", Evaluate(r, Usage{}, declaredTerms(t), Settings{}).Grant.Ownership.Team)
	r.Principal = As("x", "will", PlatformAdmin)
	r.Team = "billing"
	require.True(t, Evaluate(r, Usage{}, declaredTerms(t), Settings{}).Allowed)
	r.Team = "biling"
	require.Contains(t, find(t, Evaluate(r, Usage{}, declaredTerms(t), Settings{}), "team").Next, "Your teams are: billing, shop.")
}

func TestWithoutDeclaredTeamsAnyNameIsOne(t *testing.T) {
	r := asks(As("x", "will", PlatformAdmin))
	r.Team, r.CostCenter, r.Environment = "whoever", "cc", "test"
	require.True(t, Evaluate(r, Usage{}, terms(t), Settings{}).Allowed)
	r.Team = "a;b"
	require.False(t, Evaluate(r, Usage{}, terms(t), Settings{}).Allowed, "it becomes a tag")
}

func TestSeatsComeFromIdentitiesAlone(t *testing.T) {
	ids := []profiles.Identity{
		{Name: "admins", Source: profiles.SourceSAML, Match: map[string][]string{"groups": {"ocp-admins"}}, Role: "platform_admin", Teams: []string{"*"}},
		{Name: "devs", Source: profiles.SourceSAML, Match: map[string][]string{"groups": {"dev-*"}, "email": {"*@acme.example"}}, Role: "requester", Teams: []string{"{groups:dev-}"}},
		{Name: "audit", Source: profiles.SourceSAML, Match: map[string][]string{"email": {"*"}}, Role: "auditor", Teams: []string{"shop", "billing"}},
		{Name: "writers", Source: profiles.SourceGitHub, Match: map[string][]string{"permission": {"write", "admin"}}, Role: "requester", Teams: []string{"{owner}"}},
		{Name: "sre", Source: profiles.SourceGitHub, Match: map[string][]string{"team": {"acme/sre"}}, Role: "platform_admin", Teams: []string{"*"}},
		{Name: "slugs", Source: profiles.SourceGitHub, Match: map[string][]string{"team": {"acme/pay", "acme/shop"}}, Role: "requester", Teams: []string{"{team:acme/}"}},
		{Name: "ci", Source: profiles.SourceOIDC, Issuer: "https://token.example", Match: map[string][]string{"repository": {"acme/*"}}, Role: "requester", Teams: []string{"ci"}},
		{Name: "builds", Source: profiles.SourceOIDC, Issuer: "https://jenkins.example/oidc", Match: map[string][]string{"sub": {"https://jenkins.example/job/shop/*"}}, Role: "requester", Teams: []string{"shop"}},
		{Name: "robots", Source: profiles.SourceOIDC, Issuer: "https://robots.example", Match: map[string][]string{"sub": {"nightly"}}, Role: "requester", Teams: []string{"shop"}, Clusters: profiles.ClustersOwn},
		{Name: "typo", Source: profiles.SourceSAML, Match: map[string][]string{"email": {"*"}}, Role: "owner", Teams: []string{"*"}},
		{Name: "everybody", Source: profiles.SourceSAML, Role: "platform_admin", Teams: []string{"*"}},
	}
	for name, c := range map[string]struct {
		claims Claims
		want   []Seat
	}{
		"an admin":        {Claims{Source: profiles.SourceSAML, Values: map[string][]string{"groups": {"ocp-admins"}}}, []Seat{{Role: PlatformAdmin, Team: EveryTeam}}},
		"a developer":     {saml("maya@acme.example", "dev-shop", "dev-pay", "dev-shop", "all"), []Seat{{Role: Auditor, Team: "billing"}, {Role: Requester, Team: "pay"}, {Role: Auditor, Team: "shop"}, {Role: Requester, Team: "shop"}}},
		"of elsewhere":    {saml("maya@evil.example", "dev-shop"), []Seat{{Role: Auditor, Team: "billing"}, {Role: Auditor, Team: "shop"}}},
		"a group of star": {saml("m@acme.example", "dev-*", "dev-", "dev-a b", "dev-shop\n"), []Seat{{Role: Auditor, Team: "billing"}, {Role: Auditor, Team: "shop"}}},
		"nothing proved":  {saml("", ""), nil},
		"another source":  {Claims{Source: profiles.SourceAWS, Values: map[string][]string{"groups": {"ocp-admins"}, "email": {"x"}}}, nil},
		"a workload":      {Claims{Source: profiles.SourceOIDC, Issuer: "https://token.example", Values: map[string][]string{"repository": {"acme/a/b"}}}, []Seat{{Role: Requester, Team: "ci", Own: true}}},
		"a Jenkins build": {Claims{Source: profiles.SourceOIDC, Issuer: "https://jenkins.example/oidc", Values: map[string][]string{"sub": {"https://jenkins.example/job/shop/job/main/"}, "build_number": {"7"}}}, []Seat{{Role: Requester, Team: "shop", Own: true}}},
		"a robot":         {Claims{Source: profiles.SourceOIDC, Issuer: "https://robots.example", Values: map[string][]string{"sub": {"nightly"}}}, []Seat{{Role: Requester, Team: "shop", Own: true}}},
		"another issuer":  {Claims{Source: profiles.SourceOIDC, Issuer: "https://token.example.evil", Values: map[string][]string{"repository": {"acme/a"}}}, nil},
		"a writer":        {Claims{Source: profiles.SourceGitHub, Values: map[string][]string{"permission": {"write"}, "owner": {"shop"}}}, []Seat{{Role: Requester, Team: "shop"}}},
		"of no team":      {Claims{Source: profiles.SourceGitHub, Values: map[string][]string{"permission": {"write"}}}, nil},
		"of the teams":    {Claims{Source: profiles.SourceGitHub, Values: map[string][]string{"permission": {"read"}, "team": {"acme/sre", "acme/shop"}}}, []Seat{{Role: PlatformAdmin, Team: EveryTeam}, {Role: Requester, Team: "shop"}, {Role: Requester, Team: "sre"}}},
		"of another org":  {Claims{Source: profiles.SourceGitHub, Values: map[string][]string{"team": {"evil/sre", "acme/sre-2"}}}, nil},
		"a reader":        {Claims{Source: profiles.SourceGitHub, Values: map[string][]string{"permission": {"read"}, "owner": {"shop"}}}, nil},
	} {
		require.ElementsMatch(t, c.want, SeatsOf(ids, c.claims), name)
	}
}

func saml(email string, groups ...string) Claims {
	return Claims{Source: profiles.SourceSAML, Subject: "x", Values: map[string][]string{"groups": groups, "email": {email}}}
}
