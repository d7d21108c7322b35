package lifecycle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A cohort is the teams that lend each other places of their quotas. What a team borrows is counted and marks no cluster: it is what the team has
// beyond what it is guaranteed.

// mostNamed is how many teams that borrow are named to somebody who waits for a place of their own.
const mostNamed = 3

// agreeCohorts gives all who wait within a cohort the limit of the one that was accepted last, which knows best who belongs to it.
func agreeCohorts(waiting []claim) {
	newest := map[string]claim{}
	for _, c := range waiting {
		if c.cohort == nil {
			continue
		}
		if last, known := newest[c.cohort.Key]; !known || cmp.Or(c.since.Compare(last.since), cmp.Compare(c.cluster, last.cluster)) > 0 {
			newest[c.cohort.Key] = c
		}
	}
	for _, c := range waiting {
		if c.cohort != nil {
			*c.cohort = *newest[c.cohort.Key].cohort
		}
	}
}

// cohortAmong returns the limit of a cohort; nil: there is none.
func cohortAmong(limits []Limit) *Limit {
	if i := slices.IndexFunc(limits, func(l Limit) bool { return l.Scope == ScopeCohort }); i >= 0 {
		return &limits[i]
	}
	return nil
}

// liveOf is the counter of a team's live clusters.
func liveOf(team string) bound { return bound{ScopeTeam, team, CountLive} }

// countCohort has the live clusters of a cohort's teams counted, and each of them for the cohort too.
func (l *tally) countCohort(cohort *Limit) {
	if cohort == nil {
		return
	}
	if l.peers == nil {
		l.peers = map[string]bound{}
	}
	for team := range cohort.Own {
		l.peers[team] = cohort.toBound()
		if at := liveOf(team); l.ends[at] == nil {
			l.ends[at] = []time.Time{}
		}
	}
}

// withCohort adds the counter of the cohort to those of a team's live cluster.
func (l *tally) withCohort(uses []use) []use {
	if l.peers == nil {
		return uses
	}
	for _, u := range uses {
		if cohort, has := l.peers[u.key]; has && u.bound == liveOf(u.key) {
			return append(slices.Clone(uses), use{cohort, u.until})
		}
	}
	return uses
}

// isBorrowing reports that the team has all that it is guaranteed, counting those before the claim, so that it would borrow a place.
func (l *tally) isBorrowing(c claim) bool {
	if c.cohort == nil {
		return false
	}
	live := liveOf(c.team)
	return len(l.ends[live])+l.ahead[live] >= c.cohort.Own[c.team]
}

// nameBorrowers names the teams that have borrowed, to somebody who waits for what their team is guaranteed: those of which one ends first come first.
func (l *tally) nameBorrowers(c claim) string {
	over := func(team string) int { return len(l.ends[liveOf(team)]) - c.cohort.Own[team] }
	first := func(team string) time.Time { return l.ends[liveOf(team)][0] }
	teams := slices.DeleteFunc(slices.Sorted(maps.Keys(c.cohort.Own)), func(team string) bool { return over(team) <= 0 })
	slices.SortStableFunc(teams, func(a, b string) int { return laterUnknown(first(a), first(b)) })
	var parts []string
	for _, team := range teams[:min(len(teams), mostNamed)] {
		part := fmt.Sprintf("team %s uses %d beyond its quota", team, over(team))
		if at := first(team); !at.IsZero() {
			part += at.UTC().Format(", its first cluster ends at 2006-01-02 15:04 UTC")
		}
		parts = append(parts, part)
	}
	return strings.Join(append([]string{fmt.Sprintf("; team %s is within its quota of %d and comes first", c.team, c.cohort.Own[c.team])}, parts...), "; ")
}
