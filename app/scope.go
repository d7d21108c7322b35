package app

import (
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/usage"
)

// ToPolicyUsage is what the store counted, as policy reads it.
func ToPolicyUsage(u usage.Usage) policy.Usage {
	var cohort map[string]policy.Counts
	if u.Cohort != nil {
		cohort = map[string]policy.Counts{}
		for team, used := range u.Cohort {
			cohort[team] = policy.Counts(used)
		}
	}
	return policy.Usage{
		Cohort: cohort,
		Person: policy.Counts(u.Person), Team: policy.Counts(u.Team),
		Repository: policy.Counts(u.Repository), Everywhere: policy.Counts(u.Everywhere), Identities: u.Identities,
		Accounts: toAccountUsage(u.Accounts),
	}
}

func toAccountUsage(u usage.Accounts) policy.AccountUsage {
	out := policy.AccountUsage{Live: u.Live, Kept: u.Kept, Unasked: toRegions(u.Unasked)}
	for _, a := range u.Asked {
		out.Asked = append(out.Asked, policy.AccountAsk(a))
	}
	return out
}

func toRegions(counted map[usage.AccountRegion]int) map[policy.AccountRegion]int {
	out := make(map[policy.AccountRegion]int, len(counted))
	for at, n := range counted {
		out[policy.AccountRegion(at)] = n
	}
	return out
}

// scopeOf returns whose usage counts. The whole installation is counted and locked only if a quota or a rule needs that.
func scopeOf(person, team, repo string, c profiles.Catalogue) usage.Scope {
	everywhere := slices.ContainsFunc(c.Quotas, func(q profiles.Quota) bool { return q.Scope == profiles.ScopeEverywhere }) ||
		slices.ContainsFunc(c.Policies, func(p profiles.Policy) bool {
			return slices.ContainsFunc(p.Rules, func(r profiles.Rule) bool { return strings.Contains(r.When, "everywhere") })
		})
	return usage.Scope{Person: person, Team: team, Repo: repo, Everywhere: everywhere, Accounts: len(c.Accounts) > 0, Cohort: CohortScope(team, c)}
}

// CohortScope returns the team's cohort, whose usage counts with the team's; nil: it has none.
func CohortScope(team string, c profiles.Catalogue) *usage.Cohort {
	cohort, has := c.CohortOf(team)
	if !has {
		return nil
	}
	return &usage.Cohort{Name: cohort.Name, Teams: slices.Sorted(maps.Keys(cohort.Own))}
}
