package policy

import (
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/profiles"
)

// Rise is how much more of quotas and budgets a change of an existing cluster (more workers, a later end) takes.
type Rise struct {
	Cents     int64 // in cents, by package price
	NodeHours float64
}

// Party is who a cluster counts for, and who asks for the change.
type Party struct {
	Asks        Principal
	RequestedBy string // principal id of who requested the cluster
	Team, Repo  string // Repo is empty for a cluster without a pull request
}

// JudgeRise judges a change by node hours and budget, like a new cluster, with usage counted under the same locks. A change cannot
// wait for an approval: where a new cluster would need one, the change needs a person who could approve it.
func JudgeRise(p Party, rise Rise, u Usage, c profiles.Catalogue) Check {
	r := Request{Principal: Principal{ID: p.RequestedBy, Name: p.RequestedBy}}
	if p.Repo != "" {
		r.PR = &PullRequest{Repo: p.Repo}
	}
	j := judging{r: r, usage: u, terms: Terms{Catalogue: c}, own: Ownership{Team: p.Team}, price: rise.Cents, priced: true}
	j.team, _, _ = c.Team(p.Team)
	var checks []Check
	for _, b := range j.matchingBounds() {
		if b.NodeHours > 0 && rise.NodeHours > 0 {
			check, _ := b.nodeHours(rise.NodeHours, fmt.Sprintf("this needs %s more", formatHours(rise.NodeHours)))
			checks = append(checks, check)
		}
	}
	if j.team.Budget.MonthlyCents > 0 && rise.Cents > 0 {
		for _, part := range j.checkBudget().Checks {
			part.Name = "budget " + part.Name
			checks = append(checks, j.withApprovers(part, p))
		}
	}
	return combineChecks("room", "There is room for it.", checks)
}

// withApprovers turns a check that asks for an approval into a warning for those who could approve it, and into a refusal for everybody
// else.
func (j judging) withApprovers(check Check, p Party) Check {
	if check.Result != Ask {
		return check
	}
	check.Approval = nil
	asks := p.Asks.ID == p.RequestedBy || slices.Contains(j.usage.Identities, profiles.IdentityKey(p.Asks.ID))
	own := asks && !j.team.Budget.Self
	if p.Asks.Has(p.Team, approvalBy) && !own {
		check.Result, check.Next = Warn, "You are a platform admin, so asking for it approves it."
		return check
	}
	check.Result, check.Next = Fail, "It takes a platform admin to ask for it. Ask one of them, or ask for less."
	if own {
		check.Next = "It takes another platform admin to ask for it, since the cluster is yours. Ask one of them, or ask for less."
	}
	return check
}
