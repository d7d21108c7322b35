package policy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

// CohortUse is a team's cohort with what its teams use. What a team has beyond what it is guaranteed is borrowed: no cluster is marked as such.
type CohortUse struct {
	profiles.Cohort
	Team string
	Used map[string]Counts // by team
}

// CohortOf returns the cohort of a team with what is used of it; false: it has none.
func CohortOf(team string, u Usage, c profiles.Catalogue) (CohortUse, bool) {
	cohort, has := c.CohortOf(team)
	if !has {
		return CohortUse{}, false
	}
	used := maps.Clone(u.Cohort)
	if used == nil {
		used = map[string]Counts{}
	}
	used[team] = u.Team
	return CohortUse{cohort, team, used}, true
}

// cohortUse returns that of the request's team; like the team's quotas it is not revealed to strangers, and does not limit a pool.
func (j judging) cohortUse() (CohortUse, bool) {
	c, has := CohortOf(j.own.Team, j.usage, j.terms.Catalogue)
	return c, has && !j.stranger && j.r.Source != SourcePool
}

func (c CohortUse) toLimit() Limit {
	return Limit{Scope: lifecycle.ScopeCohort, Key: c.Name, What: LimitLive, Most: c.Most(), Own: c.Own}
}

// countLive returns how many clusters the teams have together.
func (c CohortUse) countLive() (sum int) {
	for team := range c.Own {
		sum += c.Used[team].Live
	}
	return sum
}

// countFree returns how many places nobody has.
func (c CohortUse) countFree() int { return max(0, c.Most()-c.countLive()) }

// nextNumber returns the number of the team's next cluster, those that wait counted too.
func (c CohortUse) nextNumber() int { return c.Used[c.Team].Live + c.Used[c.Team].Waiting + 1 }

// CountBorrowed returns how many live clusters the team has beyond what it is guaranteed.
func (c CohortUse) CountBorrowed() int { return max(0, c.Used[c.Team].Live-c.Own[c.Team]) }

// CountLent returns how many places that the team is guaranteed and does not use are in use by others, so that it would have to wait for them.
func (c CohortUse) CountLent() int { return max(0, c.Own[c.Team]-c.Used[c.Team].Live-c.countFree()) }

// countTaken returns the places that are no longer free for the team's next cluster. Those who wait for what their team is guaranteed come before
// everybody, and all who wait come before one that would borrow.
func (c CohortUse) countTaken() int {
	taken := c.countLive()
	for team, own := range c.Own {
		waiting := c.Used[team].Waiting
		if c.nextNumber() <= c.Own[c.Team] {
			waiting = min(waiting, max(0, own-c.Used[team].Live))
		}
		taken += waiting
	}
	return taken
}

func (c CohortUse) isFull() bool { return c.countTaken() >= c.Most() }

// checkCohort checks whether the cohort has a place for the team's next cluster, and says whether that is borrowed.
func (j judging) checkCohort(c CohortUse) Check {
	own, next := c.Own[c.Team], c.nextNumber()
	borrows, full := next > own, c.isFull()
	check := Check{Name: "cohort " + c.Name, Result: Pass, Asked: "1", Have: fmt.Sprint(c.countLive()), Accept: fmt.Sprintf("%d at once for all its teams, this one included", c.Most()),
		Message: fmt.Sprintf("Within the quota of team %s (%d of %d)", c.Team, next, own)}
	free := fmt.Sprintf("the cohort %s, which has %d of %d free", c.Name, c.countFree(), c.Most())
	switch {
	case borrows && full:
		check.Message = fmt.Sprintf("%d over the quota of team %s: to be borrowed from %s", next-own, c.Team, free)
	case borrows:
		check.Message = fmt.Sprintf("%d over the quota of team %s: borrowed from %s", next-own, c.Team, free)
		check.Result, check.Next = Warn, "While a team of the cohort waits for its own quota, borrowed clusters cannot be extended."
	case full:
		check.Message += ": it waits for " + free + ", and comes before every team that borrows"
	}
	if full {
		check = j.waitOrRefuse(check, true)
		if waiting := c.countTaken() - c.countLive(); waiting > 0 {
			check.Message += fmt.Sprintf("; waiting before it: %d", waiting)
		}
	}
	check.Message += "."
	return check
}

// JudgeRecall reports whether a cluster may get a later end. One that is borrowed gets none while a team of the cohort waits for what it is guaranteed:
// of a team's clusters, the newest are those beyond its quota. older is how many live clusters of the team were accepted before this one.
func JudgeRecall(team string, older int, u Usage, c profiles.Catalogue) Check {
	check := Check{Name: "cohort", Result: Pass, Message: "No team waits for its place."}
	cohort, has := CohortOf(team, u, c)
	if !has || older < cohort.Own[team] || cohort.countFree() > 0 {
		return check
	}
	for _, other := range slices.Sorted(maps.Keys(cohort.Own)) {
		if used := cohort.Used[other]; other != team && used.Waiting > 0 && used.Live < cohort.Own[other] {
			check.Result, check.Accept = Fail, "a cluster within the quota of its team"
			check.Message = fmt.Sprintf("It is borrowed from the cohort %s: team %s has %d clusters and a quota of %d. Team %s waits for one of its own quota, of which it has %d of %d.",
				cohort.Name, team, cohort.Used[team].Live, cohort.Own[team], other, used.Live, cohort.Own[other])
			check.Next = fmt.Sprintf("Destroy another cluster of team %s, or ask again when team %s has its cluster.", team, other)
			return check
		}
	}
	return check
}
