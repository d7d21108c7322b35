package policy

import (
	"fmt"

	"github.com/ocpctl/ocpctl/profiles"
)

// OwnershipOf returns who a cluster would belong to: what the request names, completed by rules and the team's declaration. Parts
// that nothing supplies are empty, and Evaluate refuses them.
func OwnershipOf(r Request, t Terms) Ownership { return prepareJudging(r, Usage{}, t).own }

// ProfileOf returns the name of the request's profile: the named one, otherwise the one from the repository's file, a rule or the
// catalogue. Empty: there is none.
func ProfileOf(r Request, t Terms) string {
	j := prepareJudging(r, Usage{}, t)
	return orDefault(j.r.Profile, j.profile.Name)
}

// Held is what an existing cluster takes of quotas and budgets: used this month, which moves with it, and to come until its end.
type Held struct {
	NodeHours float64
	Cents     int64 // by list prices

	Creating bool   // not ready yet
	From     string // the team that it belongs to
}

// TeamLimits returns the limits on a team's clusters at once, for a cluster that moves to the team while it still waits for its turn.
func TeamLimits(team string, c profiles.Catalogue) (limits []Limit) {
	j := judging{terms: Terms{Catalogue: c}, own: Ownership{Team: team}}
	for _, b := range j.matchingBounds() {
		if b.Scope == profiles.ScopeTeam {
			limits = append(limits, b.waitableLimits()...)
		}
	}
	if cohort, has := j.cohortUse(); has {
		limits = append(limits, cohort.toLimit())
	}
	return limits
}

// JudgeTransfer reports whether a team has quota and budget for an existing cluster, with the team's usage counted under its lock. A
// transfer neither waits nor asks for an approval: what would need either for a new cluster is refused or a warning.
func JudgeTransfer(team string, h Held, u Usage, c profiles.Catalogue) Check {
	j := judging{usage: u, terms: Terms{Catalogue: c}, price: h.Cents, priced: true, own: Ownership{Team: team}}
	known, declared := false, false
	if j.team, known, declared = c.Team(team); declared && !known {
		return j.refuseUndeclaredTeam(Check{Name: "team"})
	}
	var checks []Check
	for _, b := range j.matchingBounds() {
		if b.Scope != profiles.ScopeTeam {
			continue // already counted there, whoever it belongs to
		}
		for _, l := range b.waitableLimits() {
			if l.What == LimitLive || h.Creating {
				checks = append(checks, j.checkCount(b, l))
			}
		}
		if b.NodeHours > 0 {
			check, _ := b.nodeHours(h.NodeHours, fmt.Sprintf("this cluster has used or reserved %s", formatHours(h.NodeHours)))
			checks = append(checks, check)
		}
	}
	if cohort, has := j.cohortUse(); has && cohort.Own[h.From] == 0 {
		checks = append(checks, j.checkCohort(cohort))
	}
	if j.team.Budget.MonthlyCents > 0 {
		for _, part := range j.checkBudget().Checks {
			if part.Result == Ask {
				part.Result, part.Next = Warn, "Destroy what is no longer needed, or ask a platform admin to raise the budget."
			}
			part.Name = "budget " + part.Name
			checks = append(checks, part)
		}
	}
	return combineChecks("room", "Team "+team+" has enough quota for it.", checks)
}
