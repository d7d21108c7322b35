package rules

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// broken is a policy in which every rule has a mistake of its own.
func broken() []profiles.Policy {
	p := profiles.Policy{Name: "broken", File: "policies/broken.yaml", Line: 1, Sources: []string{"pr_lable", "api"}}
	for i, when := range []string{
		"reqest.region == 'x'", "request.ttlHour > 24", "request.ttlHours", "pr.is_fork && !('ok' in pr.label)", "usage.team.lve > 3", "foo(1)",
		"request.region.strtsWith('x')", "1 +", "", "'a'.matches('[')", "request.region > 3", "request.ttlHours == 24.0", "request.tags.x.y == 1",
		"request.nope == 1 ||\n  actor.nme == 'maya'", "now > 3", "request", "dyn(1)", "pr.labels.exists(l, l == request.nam)", "pr.repo.matches('" + strings.Repeat("(a?){9}", 90) + "')",
		strings.Repeat("(", 90) + "true" + strings.Repeat(")", 90), strings.Repeat("true && ", 1000) + "true", "team.name == 'x' && secrets.all == ''", "usage.tm.live > 3",
	} {
		p.Rules = append(p.Rules, profiles.Rule{Name: "when", When: when, Effect: profiles.EffectDeny, Message: "m", Line: 10 + i})
	}
	some := map[string]string{"region": "us-east-1"}
	p.Rules = append(p.Rules,
		profiles.Rule{Name: "effect", When: "true", Effect: "dney", Message: "m", Line: 40},
		profiles.Rule{Name: "words", When: "true", Effect: profiles.EffectDeny, Line: 41},
		profiles.Rule{Name: "nothing", When: "true", Effect: profiles.EffectDefault, Line: 42},
		profiles.Rule{Name: "field", When: "true", Effect: profiles.EffectDefault, Set: map[string]string{"regoin": "x", "team": "x", "ttlHours": "long", "version": " "}, Line: 43},
		profiles.Rule{Name: "hours", When: "true", Effect: profiles.EffectDefault, Set: map[string]string{"ttlHours": "0"}, Line: 44},
		profiles.Rule{Name: "circle", When: "profile.nodes > 3 || price.totalCents > 1", Effect: profiles.EffectDefault, Set: map[string]string{"profile": "x"}, Line: 45})
	narrow := profiles.Policy{Name: "narrow", File: "policies/narrow.yaml", Profiles: []string{"aws-*"}, Rules: []profiles.Rule{
		{Name: "choose", When: "true", Effect: profiles.EffectDefault, Set: map[string]string{"profile": "x"}, Line: 3},
		{Name: "fine", When: "true", Effect: profiles.EffectDefault, Set: some, Line: 4},
	}}
	return []profiles.Policy{p, narrow}
}

func TestEveryMistakeIsSaidAtOnceWithWhatWasMeant(t *testing.T) {
	set, problems := Compile(broken())
	require.Nil(t, set, "one mistake, and nothing of it is in force")
	path := filepath.Join("testdata", "broken.txt")
	got := problems.Error() + "\n"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
	lines := map[int]bool{}
	for _, p := range problems {
		require.NotEmpty(t, p.File)
		require.NotEmpty(t, p.Got, p.Field)
		require.NotEmpty(t, p.Accept, p.Field)
		lines[p.Line] = true
	}
	for _, r := range broken()[0].Rules {
		require.True(t, lines[r.Line], "%s at line %d has a mistake", r.Name, r.Line)
	}
	require.NotContains(t, got, "narrow.yaml:4", "what is fine is not complained of")
}

func TestEveryFieldThatMayBeSetIsFilledIn(t *testing.T) {
	for _, field := range profiles.Settable {
		var r policy.Request
		require.Len(t, fillSettings(&r, sortSettings(map[string]string{field: "12"})), 1, field)
		require.NotEqual(t, policy.Request{}, r, field)
		require.Empty(t, fillSettings(&r, sortSettings(map[string]string{field: "13"})), field)
	}
}

// FuzzCompile: whatever a policy says, compiling it and asking it never panics, and what compiles answers with words.
func FuzzCompile(f *testing.F) {
	for _, p := range append(broken(), fifty()[0]) {
		for _, r := range p.Rules {
			f.Add(r.When, "region", "us-east-1")
		}
	}
	f.Add("true", "ttlHours", "99999999999999999999")
	f.Add(blowUp("'a'"), "profile", "x")
	in := saturday(f)
	f.Fuzz(func(t *testing.T, when, field, value string) {
		for _, effect := range []profiles.Effect{profiles.EffectDeny, profiles.EffectRequireApproval, profiles.EffectDefault} {
			p := one(when, effect)
			p.Rules[0].Set = map[string]string{field: value}
			set, problems := Compile([]profiles.Policy{p})
			require.Equal(t, set == nil, len(problems) > 0)
			_, filled := set.Defaults(in)
			for _, check := range append(filled, set.Judge(in)...) {
				require.NotEmpty(t, check.Message)
			}
		}
	})
}
