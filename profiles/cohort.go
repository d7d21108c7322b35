package profiles

import (
	"fmt"
	"slices"
)

// Cohort is the teams that lend each other places of their quotas. Together they never have more live clusters than their quotas allow.
type Cohort struct {
	Name string
	Own  map[string]int // how many live clusters each team is guaranteed: the lowest of its quotas
}

// Most returns how many live clusters the teams may have together.
func (c Cohort) Most() (sum int) {
	for _, own := range c.Own {
		sum += own
	}
	return sum
}

// teamsOf returns the teams of a cohort, ordered by name.
func (c Catalogue) teamsOf(cohort string) (names []string) {
	for _, t := range c.Teams {
		if t.Cohort == cohort {
			names = append(names, t.Name)
		}
	}
	return names
}

// CohortOf returns the cohort of a team; false: it has none.
func (c Catalogue) CohortOf(team string) (Cohort, bool) {
	t, _, _ := c.Team(team)
	if t.Cohort == "" {
		return Cohort{}, false
	}
	out := Cohort{Name: t.Cohort, Own: map[string]int{}}
	for _, name := range c.teamsOf(t.Cohort) {
		for _, q := range c.Quotas {
			if q.limitsLive(name) && (out.Own[name] == 0 || q.Live < out.Own[name]) {
				out.Own[name] = q.Live
			}
		}
	}
	return out, true
}

// limitsLive reports whether the quota says how many live clusters a team may have.
func (q Quota) limitsLive(team string) bool {
	return q.Scope == ScopeTeam && q.Live > 0 && q.Holds(team)
}

// agreeCohorts checks that a team borrows within a cohort only, and that each team of a cohort brings a quota and has somebody to share it with.
func (l *loader) agreeCohorts() {
	in := map[string]int{}
	for _, t := range l.teams {
		in[t.value.Cohort]++
	}
	for _, t := range l.teams {
		cohort := t.value.Cohort
		if cohort == "" || !t.from.good("cohort") {
			continue
		}
		if in[cohort] == 1 {
			t.from.failAt("cohort", fmt.Sprintf("%q, which no other team has", cohort), "the cohort of another team, or none")
		}
		if !slices.ContainsFunc(l.quotas, func(q entry[Quota]) bool { return q.value.limitsLive(t.value.Name) }) {
			t.from.failAt("cohort", fmt.Sprintf("%q, and no quota limits the live clusters of team %s", cohort, t.value.Name), "a quota with scope: team and live that matches the team, or no cohort")
		}
	}
	for _, q := range l.quotas {
		if at := q.path("borrow"); q.value.Borrow > 0 && q.sound() {
			l.agreeBorrow(q, at)
		}
	}
}

func (l *loader) agreeBorrow(q entry[Quota], at string) {
	given := fmt.Sprint(q.value.Borrow)
	switch alone := slices.IndexFunc(l.teams, func(t entry[Team]) bool { return t.value.Cohort == "" && q.value.Holds(t.value.Name) }); {
	case q.value.Scope != ScopeTeam:
		q.from.failAt(at, given+" for the scope "+string(q.value.Scope), "none, or scope: team")
	case q.value.Live == 0:
		q.from.failAt(at, given+" without live", "none, or live: what the team has of its own")
	case len(l.teams) == 0:
		q.from.failAt(at, given+", and no team is declared", "none, or teams with a cohort")
	case alone >= 0:
		q.from.failAt(at, given+", and team "+l.teams[alone].value.Name+" has no cohort", "none, or a cohort for each team that the quota matches")
	}
}
