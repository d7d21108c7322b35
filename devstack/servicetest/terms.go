package servicetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/policy/rules"
	"github.com/ocpctl/ocpctl/profiles"
)

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
