package rules

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// one is a policy of one rule.
func one(when string, effect profiles.Effect) profiles.Policy {
	return profiles.Policy{Name: "p", File: "policies/p.yaml", Line: 1, Rules: []profiles.Rule{{Name: "r", When: when, Effect: effect, Message: "not so", Line: 7}}}
}

func compiled(t testing.TB, policies ...profiles.Policy) *Set {
	t.Helper()
	set, problems := Compile(policies)
	require.Empty(t, problems)
	return set
}

// saturday is a request of a pull request on a Saturday evening in UTC.
func saturday(t testing.TB) policy.In {
	t.Helper()
	c, err := profiles.Embedded()
	require.NoError(t, err)
	p, _ := c.Get("aws-minimal-test")
	return policy.In{
		Request: policy.Request{
			Principal: policy.As("github:maya", "maya", policy.Requester, "shop"), Source: policy.SourceLabel, Permission: "write", Profile: p.Name, Region: "us-east-1", Version: "4.20.3",
			PR:        &policy.PullRequest{Repo: "acme/shop", Number: 41, Author: "maya", Base: "main", Fork: true, Draft: true, Association: "NONE", Labels: []string{"ocp/aws-minimal-test"}},
			Ownership: policy.Ownership{Team: "shop", CostCenter: "cc-100", Environment: "test"}, TTL: 24*time.Hour + time.Minute, Tags: map[string]string{"color": "blue"},
		},
		Profile: p, Team: profiles.Team{Name: "shop", CostCenters: []string{"cc-100"}, Budget: profiles.Budget{MonthlyCents: 50_000}},
		Usage: policy.Usage{Team: policy.Counts{Live: 3, Creating: 1, NodeHours: 12.5, SpentCents: 700}, Person: policy.Counts{Waiting: 2}},
		Now:   time.Date(2025, 1, 18, 23, 30, 0, 0, time.UTC), PriceCents: 1801,
	}
}

func TestARuleSeesEveryVariable(t *testing.T) {
	for when, holds := range map[string]bool{
		"pr.is_fork && !('ok-to-test' in pr.labels)":                                        true,
		"request.ttlHours > 24 && now.getDayOfWeek() in [0, 6]":                             true,
		"now.getDayOfWeek('Europe/Berlin') == 0 && now.getHours('Europe/Berlin') == 0":      true,
		"request.ttl > duration('24h') && request.ttl < duration('25h')":                    true,
		"request.source == 'pr_label' && request.profile.startsWith('aws-')":                true,
		"request.region == 'us-east-1' && request.version == '4.20.3'":                      true,
		"request.team == 'shop' && request.costCenter == 'cc-100'":                          true,
		"request.environment == 'test' && request.owner == '' && !has(request.owner)":       true,
		"'color' in request.tags && request.tags.color == 'blue'":                           true,
		"request.tags.exists(k, k == 'size')":                                               false,
		"profile.nodes == 3 && profile.workers == 0 && profile.maxTtlHours == 72":           true,
		"profile.platform == 'aws' && !profile.adminOnly && 'us-east-2' in profile.regions": true,
		"actor.id == 'github:maya' && actor.role == 'requester' && 'shop' in actor.teams":   true,
		"actor.everyTeam || actor.permission != 'write'":                                    false,
		"team.declared && team.name == 'shop' && team.budgetCents == 50000":                 true,
		"usage.team.live + usage.team.creating > 3 && usage.person.waiting == 2":            true,
		"usage.team.nodeHours > 12 && usage.team.nodeHours <= 12.5":                         true,
		"usage.everywhere.live > 0 || usage.repository.live > 0":                            false,
		"price.totalCents > 1776 && price.hourlyCents == 74":                                true,
		"pr.number == 41 && pr.repo == 'acme/shop' && pr.base == 'main'":                    true,
		"pr.fork && pr.fork == pr.is_fork && pr.draft":                                      true,
		"pr.association in ['NONE', 'FIRST_TIMER', 'FIRST_TIME_CONTRIBUTOR']":               true,
		"pr.association == 'MEMBER'":                                                        false,
		"pr.repo.split('/')[0] == 'acme'":                                                   true,
		"true":                                                                              true,
		"false":                                                                             false,
	} {
		checks := compiled(t, one(when, profiles.EffectDeny)).Judge(saturday(t))
		if !holds {
			require.Empty(t, checks, when)
			continue
		}
		require.Equal(t, []policy.Check{{Name: "p/r", Result: policy.Fail, Message: "not so", Next: "Change the request, or ask a platform admin about rule r of policy p."}}, checks, when)
	}
}

func TestWithoutAPullRequestThereIsAnEmptyOne(t *testing.T) {
	in := saturday(t)
	in.Request.PR = nil
	require.Len(t, compiled(t, one("pr.number == 0 && pr.repo == '' && !pr.is_fork && !pr.fork && !pr.draft && pr.association == '' && pr.labels.size() == 0", profiles.EffectDeny)).Judge(in), 1)
	require.Empty(t, compiled(t, one("'x' in pr.labels", profiles.EffectDeny)).Judge(in))
	require.Len(t, compiled(t, one("request.tags.size() == 0", profiles.EffectDeny)).Judge(policy.In{}), 1, "nothing at all is there")
}

func TestAnEffectBecomesAResult(t *testing.T) {
	terms := profiles.ApprovalTerms{Count: 2, By: "requester", For: time.Hour}
	for effect, result := range map[profiles.Effect]policy.Result{
		profiles.EffectDeny: policy.Fail, profiles.EffectWarn: policy.Warn, profiles.EffectRequireApproval: policy.Ask,
	} {
		p := one("true", effect)
		p.Rules[0].Approval = terms
		check := compiled(t, p).Judge(saturday(t))[0]
		require.Equal(t, result, check.Result)
		require.NotEmpty(t, check.Next)
		require.Equal(t, result == policy.Ask, check.Approval != nil)
		p.Rules[0].Next = "Do this."
		require.Equal(t, "Do this.", compiled(t, p).Judge(saturday(t))[0].Next)
	}
	p := one("true", profiles.EffectRequireApproval)
	p.Rules[0].Approval = terms
	require.Equal(t, &policy.Approval{Count: 2, By: policy.Requester, For: time.Hour}, compiled(t, p).Judge(saturday(t))[0].Approval)
}

func TestAPolicyHoldsForItsSourcesAndItsProfiles(t *testing.T) {
	for _, c := range []struct {
		sources, profiles []string
		holds             bool
	}{
		{nil, nil, true},
		{[]string{"pr_label"}, nil, true},
		{[]string{"api", "pr_label"}, []string{"*"}, true},
		{[]string{"pr_*"}, []string{"ibm-*", "aws-*"}, true},
		{[]string{"api"}, nil, false},
		{nil, []string{"aws-standard"}, false},
		{nil, []string{"ibm-*"}, false},
	} {
		p := one("true", profiles.EffectDeny)
		p.Sources, p.Profiles = c.sources, c.profiles
		require.Equal(t, c.holds, len(compiled(t, p).Judge(saturday(t))) == 1, "%v", c)
	}
}

func TestWhatCannotBeEvaluatedIsRefused(t *testing.T) {
	deep := "[1,2,3,4,5,6,7,8,9].all(a, true)"
	for range 5 {
		deep = "[1,2,3,4,5,6,7,8,9].all(a, " + deep + ")"
	}
	for when, cause := range map[string]string{
		"request.tags['size'] == 'xl'":              "no such key: size",
		"request.tags.size == 'xl'":                 "no such key: size",
		"pr.labels[9] == 'x'":                       "index out of bounds",
		"1 / (pr.labels.size() - 1) == 1":           "division by zero",
		"now.getHours('Nowhere/Else') == 1":         "unknown time zone",
		"int(request.region) > 3":                   "", // whatever CEL says of it
		deep:                                        "cost limit exceeded",
		blowUp("'" + strings.Repeat("a", 50) + "'"): "cost limit exceeded",
	} {
		for _, effect := range []profiles.Effect{profiles.EffectDeny, profiles.EffectWarn, profiles.EffectRequireApproval} {
			checks := compiled(t, one(when, effect)).Judge(saturday(t))
			require.Len(t, checks, 1, when)
			require.Equal(t, policy.Fail, checks[0].Result, when)
			require.Contains(t, checks[0].Message, "Rule r of policy p could not be evaluated (", when)
			require.Contains(t, checks[0].Message, cause, when)
			require.Equal(t, "Ask a platform admin to fix the rule at policies/p.yaml:7.", checks[0].Next)
		}
		p := one(when, profiles.EffectDefault)
		p.Rules[0].Set = map[string]string{"region": "us-east-2"}
		in := saturday(t)
		in.Request.Region = ""
		filled, checks := compiled(t, p).Defaults(in)
		if when != "int(request.region) > 3" {
			require.Equal(t, in.Request, filled)
		}
		require.Equal(t, policy.Fail, checks[0].Result, when)
	}
}

// blowUp makes a text ten million times as long.
func blowUp(text string) string {
	for range 7 {
		text += ".replace('a', 'aaaaaaaaaa')"
	}
	return text + " == ''"
}

func TestARuleThatIsStillRunningWhenTimeIsUpIsRefused(t *testing.T) {
	set := compiled(t, one("[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, true)))", profiles.EffectDeny))
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	_, err := set.judges[0].evaluateRule(late, variableValues(saturday(t)))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestDefaultsFillInOnlyWhatIsLeftOut(t *testing.T) {
	p := one("true", profiles.EffectDefault)
	p.Rules[0].Set = map[string]string{"region": "us-east-2", "version": "4.20.1", "baseDomain": "d.example.com", "costCenter": "cc-9", "environment": "dev", "ttlHours": "8"}
	set := compiled(t, p)
	in := saturday(t)
	filled, checks := set.Defaults(in)
	in.Request.BaseDomain = "d.example.com"
	require.Equal(t, in.Request, filled, "what was asked for stays, and what the repository's entry says")
	require.Equal(t, []policy.Check{{Name: "p/r", Result: policy.Pass, Accept: "baseDomain d.example.com", Message: "Rule r of policy p filled in baseDomain d.example.com."}}, checks)

	in.Request.Region, in.Request.Version, in.Request.BaseDomain, in.Request.TTL, in.Request.Ownership = "", "", "", 0, policy.Ownership{}
	filled, checks = set.Defaults(in)
	require.Equal(t, "us-east-2 4.20.1 d.example.com cc-9 dev", strings.Join([]string{filled.Region, filled.Version, filled.BaseDomain, filled.CostCenter, filled.Environment}, " "))
	require.Equal(t, 8*time.Hour, filled.TTL)
	require.Contains(t, checks[0].Message, "baseDomain d.example.com, costCenter cc-9, environment dev, region us-east-2, ttlHours 8, version 4.20.1.")
	in.Request.TTL = policy.NoEnd
	filled, _ = set.Defaults(in)
	require.Equal(t, policy.NoEnd, filled.TTL, "an end that was refused is not filled in")
}

func TestEarlierDefaultsWinAndLaterOnesSeeThem(t *testing.T) {
	p := profiles.Policy{Name: "p", Rules: []profiles.Rule{
		{Name: "a", When: "request.team == 'shop'", Effect: profiles.EffectDefault, Set: map[string]string{"region": "us-east-2"}},
		{Name: "b", When: "true", Effect: profiles.EffectDefault, Set: map[string]string{"region": "us-west-2"}},
		{Name: "c", When: "request.region == 'us-east-2'", Effect: profiles.EffectDefault, Set: map[string]string{"baseDomain": "east.example.com"}},
	}}
	in := saturday(t)
	in.Request.Region = ""
	filled, checks := compiled(t, p).Defaults(in)
	require.Equal(t, "us-east-2", filled.Region)
	require.Equal(t, "east.example.com", filled.BaseDomain)
	require.Len(t, checks, 2)
}

func TestTheProfileIsFilledInFirst(t *testing.T) {
	p := profiles.Policy{Name: "p", Rules: []profiles.Rule{
		{Name: "small", When: "'quick' in pr.labels || actor.id == 'github:maya'", Effect: profiles.EffectDefault, Set: map[string]string{"profile": "aws-standard"}},
		{Name: "near", When: "profile.name == 'aws-minimal-test'", Effect: profiles.EffectDefault, Set: map[string]string{"region": "us-west-2"}},
	}}
	set := compiled(t, p)
	in := saturday(t)
	in.Request.Region, in.Request.Profile, in.Profile = "", "", profiles.Profile{}
	filled, checks := set.Defaults(in)
	require.Equal(t, "aws-standard", filled.Profile)
	require.Empty(t, filled.Region, "what follows from the profile is filled in when it is known")
	require.Len(t, checks, 1)
	in = saturday(t)
	in.Request.Region = ""
	filled, _ = set.Defaults(in)
	require.Equal(t, "us-west-2", filled.Region)
}

func TestNoRulesObjectToNothing(t *testing.T) {
	for _, set := range []*Set{nil, compiled(t)} {
		in := saturday(t)
		filled, checks := set.Defaults(in)
		require.Equal(t, in.Request, filled)
		require.Empty(t, checks)
		require.Empty(t, set.Judge(in))
		require.Zero(t, set.Len())
	}
}

func TestASetIsSharedByAll(t *testing.T) {
	set := compiled(t, fifty()...)
	in := saturday(t)
	want := set.Judge(in)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if got := set.Judge(in); len(got) != len(want) {
					t.Errorf("%d checks, not %d", len(got), len(want))
				}
			}
		})
	}
	all.Wait()
}
