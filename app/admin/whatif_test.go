package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
)

const ruled = "name: long\nmatch: {sources: [api]}\nrules:\n  - {name: days, when: request.ttlHours > 48, effect: requireApproval, message: More than two days need an approval.}\n" +
	"  - {name: weekend, when: request.ttlHours > 100 && usage.team.live > 3, effect: deny, message: Too long.}\n"

var will = policy.As("saml:will", "will", policy.PlatformAdmin)

func TestAQuestionIsJudgedLikeTheRequestOfThatPerson(t *testing.T) {
	h := servicetest.With(t, servicetest.Catalogue(t, map[string]string{
		"policies/long.yaml": ruled, "people/people.yaml": "people:\n  - {name: maya, displayName: Maya, identities: [\"github:maya\", \"saml:maya\"]}\n",
	}))
	office := admin.New(app.New(h.Config()), h.Config())
	maya := policy.As("saml:maya", "maya", policy.Requester, "platform")
	ask := func(q admin.Question) admin.Answer {
		t.Helper()
		answer, err := office.WhatIf(t.Context(), will, q)
		require.NoError(t, err)
		return answer
	}
	create := app.CreateRequest{Profile: "aws-standard", TTL: 60 * 3600e9, Team: "platform", CostCenter: "sandbox", Environment: "test"}
	ask(admin.Question{As: "Maya", Role: "requester", CreateRequest: create}) // the people of the catalogue are known from now on
	before := h.LeftBehind()

	workers := 3
	said := ask(admin.Question{As: "Maya", Role: "requester", Workers: &workers, CreateRequest: create})
	require.True(t, said.Allowed, said.Text())
	require.NotNil(t, said.Approval)
	rules := find(t, said.Checks, "rules")
	require.Equal(t, []policy.Result{policy.Ask, policy.Pass}, []policy.Result{rules.Checks[0].Result, rules.Checks[1].Result}, "every rule, in order")
	require.Equal(t, "More than two days need an approval. (request.ttlHours is 60)", rules.Checks[0].Message)
	require.Equal(t, "Does not apply. (request.ttlHours is 60, usage.team.live is 0)", rules.Checks[1].Message)
	require.Equal(t, policy.Pass, find(t, said.Checks, "workers").Result)
	require.Equal(t, before, h.LeftBehind(), "nothing is stored")

	workers = 99
	require.False(t, ask(admin.Question{As: "maya", Role: "requester", Workers: &workers, CreateRequest: create}).Allowed)

	from := ask(admin.Question{As: "github:maya", Source: "pr_comment", On: admin.QuestionGitHub{Repository: "acme/shop", Permission: "read"}, CreateRequest: create})
	require.False(t, from.Allowed)
	require.Equal(t, policy.Fail, find(t, from.Checks, "permission").Result)
	require.Contains(t, find(t, from.Checks, "rules").Checks[0].Message, "it is only for requests from api")

	h.Create(maya, "demo")
	last := ask(admin.Question{As: "maya", CreateRequest: create})
	require.Equal(t, maya.Seats, last.Principal.Seats, "as in the last request")
	require.False(t, last.Since.IsZero())
}

func TestABadQuestionNamesItsFields(t *testing.T) {
	h := servicetest.New(t)
	office := admin.New(app.New(h.Config()), h.Config())
	for name, q := range map[string]admin.Question{
		"as":         {As: "nobody"},
		"role":       {As: "github:nobody"},
		"team":       {As: "github:nobody", Role: "requester"},
		"source":     {As: "github:nobody", Role: "auditor", Source: "fax"},
		"repository": {As: "github:nobody", Source: "pr_label"},
		"permission": {As: "github:nobody", Role: "auditor", On: admin.QuestionGitHub{Permission: "all"}},
	} {
		_, err := office.WhatIf(t.Context(), will, q)
		var refused *app.Error
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, app.Invalid, refused.Kind)
		require.Equal(t, name, refused.Fields[0].Name)
		require.NotEmpty(t, refused.Fields[0].Accept)
	}
	_, err := office.WhatIf(t.Context(), policy.As("x", "x", policy.PlatformAdmin, "platform"), admin.Question{As: "github:nobody"})
	require.Equal(t, app.Denied, app.KindOf(err), "it shows what others have")
}

func find(t *testing.T, checks []policy.Check, name string) policy.Check {
	t.Helper()
	for _, c := range checks {
		if c.Name == name {
			return c
		}
	}
	require.Fail(t, "no check "+name)
	return policy.Check{}
}
