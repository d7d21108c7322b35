package policy

import (
	"time"

	"github.com/ocpctl/ocpctl/profiles"
)

// OwnershipOf says whose a cluster would be: what the request names, what rules and the team's declaration fill in. Parts that
// nobody gives are empty, which a judgement refuses.
func OwnershipOf(r Request, t Terms) Ownership { return prepare(r, Usage{}, t).own }

// ProfileOf names the profile that a request means: the one it names, else what the repository's file, a rule or the catalogue
// fills in. Empty: there is none.
func ProfileOf(r Request, t Terms) string {
	j := prepare(r, Usage{}, t)
	return orDefault(j.r.Profile, j.profile.Name)
}

// Held is what a cluster that exists takes of quotas and budgets.
type Held struct {
	Nodes int
	Left  time.Duration // until its end
	Cents int64         // that it still costs until then, by list prices

	Creating bool // it is not ready yet
}

// TeamLimits are the limits of what a team may have at once, for a cluster of another team's that still waits for its turn.
func TeamLimits(team string, c profiles.Catalogue) (limits []Limit) {
	j := judging{terms: Terms{Catalogue: c}, own: Ownership{Team: team}}
	for _, b := range j.bounds() {
		if b.Scope == profiles.ScopeTeam {
			limits = append(limits, b.limits()...)
		}
	}
	return limits
}

// JudgeTransfer says whether a team has room for a cluster that exists, with what the team uses counted under its lock. Nobody
// waits with a cluster in hand, and no approval is asked for: what would need either elsewhere is refused or warned of.
func JudgeTransfer(team string, h Held, u Usage, c profiles.Catalogue) Check {
	j := judging{usage: u, terms: Terms{Catalogue: c}, price: h.Cents, priced: true, r: Request{TTL: max(h.Left, time.Nanosecond)}, own: Ownership{Team: team}}
	j.profile.ControlPlane.Replicas = h.Nodes
	known, declared := false, false
	if j.team, known, declared = c.Team(team); declared && !known {
		return j.undeclared(Check{Name: "team"})
	}
	var checks []Check
	for _, b := range j.bounds() {
		if b.Scope != profiles.ScopeTeam {
			continue // it is counted there already, whoever it belongs to
		}
		for _, l := range b.limits() {
			if l.What == LimitLive || h.Creating {
				checks = append(checks, j.checkCount(b, l))
			}
		}
		if b.NodeHours > 0 {
			checks = append(checks, j.checkNodeHours(b))
		}
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
	return whole("room", "Team "+team+" has room for it.", checks)
}
