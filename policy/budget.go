package policy

import (
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/profiles"
)

// teamSpending returns, in cents, what the team's clusters have cost this month and what the living ones will cost until they end.
func (j judging) teamSpending() int64 { return j.usage.Team.SpentCents + j.usage.Team.CommittedCents }

// checkBudget compares the team's monthly budget with what is spent, what is committed and what this cluster costs until its end.
// Above the warning threshold it asks for an approval; above a hard budget it refuses.
func (j judging) checkBudget() Check {
	b, after := j.team.Budget, j.teamSpending()+j.price
	figures := fmt.Sprintf("Team %s has spent %s this month and promised %s to its clusters; with %s for this one, that is %s of its %s",
		j.own.Team, price.Dollars(j.usage.Team.SpentCents), price.Dollars(j.usage.Team.CommittedCents), price.Dollars(j.price), price.Dollars(after), price.Dollars(b.MonthlyCents))
	if !j.priced {
		figures = fmt.Sprintf("Team %s has spent %s this month and promised %s to its clusters, of its %s; the price of this one is not known yet",
			j.own.Team, price.Dollars(j.usage.Team.SpentCents), price.Dollars(j.usage.Team.CommittedCents), price.Dollars(b.MonthlyCents))
	}
	part := func(name, fine string, bound int64) Check {
		return Check{Name: name, Result: Pass, Asked: price.Dollars(j.price), Have: price.Dollars(j.teamSpending()), Accept: fmt.Sprintf("at most %s more", price.Dollars(max(0, bound-j.teamSpending()))),
			Message: fine}
	}
	all := part("month", fmt.Sprintf("It fits into the %s of the month.", price.Dollars(b.MonthlyCents)), b.MonthlyCents)
	over := after > b.MonthlyCents
	switch {
	case over && b.Hard:
		all.Result, all.Message, all.Next = Fail, figures+".", "Ask for a shorter life, destroy what is no longer needed, or ask a platform admin to raise the budget."
	case over:
		all.Result, all.Message, all.Next = Ask, figures+".", "A platform admin has to approve it; a shorter life may need none."
	}
	all.Approval = j.budgetApproval(all)
	checks := []Check{all}
	if b.WarnPercent > 0 && !over { // above the whole budget the warning would add nothing
		from := b.MonthlyCents * int64(b.WarnPercent) / 100
		warned := part("warning", fmt.Sprintf("It stays below %s, above which an approval is needed.", price.Dollars(from)), from-1)
		if after*100 >= b.MonthlyCents*int64(b.WarnPercent) {
			warned.Result, warned.Next = Ask, "A platform admin has to approve it; a shorter life may need none."
			warned.Message = fmt.Sprintf("%s, and above %d %% an approval is needed.", figures, b.WarnPercent)
		}
		warned.Approval = j.budgetApproval(warned)
		checks = append(checks, warned)
	}
	return combineChecks("budget", figures+".", checks)
}

// half is the part of a budget, in percent, at which people hear of it for the first time.
const half = 50

// BudgetReached returns the parts of a team's monthly budget, in percent, that are reached when its clusters of this month cost that much
// in cents, spent and promised: half of it, the part from which requests need an approval, and all of it. A team without a budget
// reaches none.
func BudgetReached(b profiles.Budget, cents int64) (percents []int) {
	if b.MonthlyCents <= 0 {
		return nil
	}
	for _, percent := range []int{half, b.WarnPercent, 100} {
		if percent > 0 && cents*100 >= b.MonthlyCents*int64(percent) && !slices.Contains(percents, percent) {
			percents = append(percents, percent)
		}
	}
	slices.Sort(percents)
	return percents
}

// budgetApproval returns the approval that the budget check asks for; nil: none.
func (j judging) budgetApproval(c Check) *Approval {
	if c.Result != Ask {
		return nil
	}
	return &Approval{Count: 1, Self: j.team.Budget.Self, By: approvalBy, For: approvalFor}
}
