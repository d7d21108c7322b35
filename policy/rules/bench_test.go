package rules

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// fifty are rules as people write them, of which few hold.
func fifty() []profiles.Policy {
	whens := []string{
		"pr.is_fork && !('ok-to-test' in pr.labels)",
		"request.ttlHours > 48 && now.getDayOfWeek() in [0, 6]",
		"request.profile.startsWith('ibm-') && actor.role != 'platform_admin'",
		"usage.team.live >= 4 && request.environment != 'prod'",
		"price.totalCents > 50000 || usage.team.spentCents + price.totalCents > team.budgetCents",
		"request.region != '' && !(request.region in profile.regions)",
		"request.tags.exists(k, k.startsWith('x-'))",
		"request.source == 'api' && 'project' in request.tags && request.tags.project == ''",
		"profile.nodes > 6 && request.ttl > duration('72h')",
		"pr.number != 0 && pr.base.matches('^release-[0-9]+$')",
	}
	var policies []profiles.Policy
	for i := range 5 {
		p := profiles.Policy{Name: fmt.Sprintf("policy-%d", i)}
		for j, when := range whens {
			p.Rules = append(p.Rules, profiles.Rule{Name: fmt.Sprintf("rule-%d", j), When: when, Effect: profiles.EffectWarn, Message: "a word"})
		}
		policies = append(policies, p)
	}
	return policies
}

func judged(b *testing.B) (policy.Request, policy.Usage, policy.Terms) {
	in := saturday(b)
	in.Request.PR.Fork, in.Request.TTL = false, 0
	c, err := profiles.Embedded()
	require.NoError(b, err)
	return in.Request, in.Usage, policy.Terms{Catalogue: c, Now: in.Now}
}

func BenchmarkVerdictWithoutRules(b *testing.B) {
	r, u, terms := judged(b)
	b.ReportAllocs()
	for b.Loop() {
		policy.Evaluate(r, u, terms, policy.Settings{})
	}
}

func BenchmarkVerdict50Rules(b *testing.B) {
	r, u, terms := judged(b)
	set := compiled(b, fifty()...)
	require.Equal(b, 50, set.Len())
	terms.Rules = set
	v := policy.Evaluate(r, u, terms, policy.Settings{})
	require.Empty(b, v.Refusals(), "every rule can be evaluated")
	b.ReportAllocs()
	for b.Loop() {
		policy.Evaluate(r, u, terms, policy.Settings{})
	}
}

func BenchmarkCompile50Rules(b *testing.B) {
	policies := fifty()
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := Compile(policies); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}
