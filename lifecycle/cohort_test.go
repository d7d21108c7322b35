package lifecycle

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// cohortOf is the limit of a cohort whose teams are guaranteed so much.
func cohortOf(own map[string]int) Limit {
	l := Limit{Scope: ScopeCohort, Key: "payments", What: CountLive, Own: own}
	for _, n := range own {
		l.Most += n
	}
	return l
}

func TestATeamWithinItsQuotaComesBeforeOneThatBorrows(t *testing.T) {
	cohort := cohortOf(map[string]int{"a": 3, "b": 1})
	a, b := teamLimit("a", CountLive, 4), teamLimit("b", CountLive, 3)
	urgent := waits(1, "b", "will", b, cohort)
	urgent.Priority = 100
	own := waits(2, "a", "maya", a, cohort)
	alone := waits(3, "c", "rita", all(5))
	everywhere := waits(1, "b", "will", b, cohort, all(5))
	for name, c := range map[string]struct {
		waiting []Waiter
		held    []Holder
		granted []string
	}{
		"what is free may be borrowed":             {waiting: []Waiter{urgent}, held: append(live("b", 1), live("a", 1)...), granted: []string{"b-1"}},
		"no priority breaks a guarantee":           {waiting: []Waiter{urgent, own}, held: append(live("b", 1), live("a", 1, 2)...), granted: []string{"a-2"}},
		"a full cohort lends nothing":              {waiting: []Waiter{urgent, own}, held: append(live("b", 1, 2), live("a", 1, 2)...)},
		"within its quota the priority counts":     {waiting: []Waiter{own, urgent}, held: live("a", 1, 2), granted: []string{"b-1", "a-2"}},
		"others count nothing in the cohort":       {waiting: []Waiter{own}, held: append(live("c", 1, 2, 3, 4, 5), live("a", 1)...), granted: []string{"a-2"}},
		"who never borrows comes before who does":  {waiting: []Waiter{everywhere, alone}, held: append(live("b", 1), live("c", 1, 2, 3)...), granted: []string{"c-3"}},
		"a place that is kept counts as borrowed":  {waiting: []Waiter{unapproved(waits(1, "b", "will", b, cohort)), waits(2, "b", "will", b, cohort), own}, held: live("a", 1), granted: []string{"a-2", "b-2"}},
		"the team's own most holds for borrowers":  {waiting: []Waiter{urgent}, held: live("b", 1, 2, 3)},
		"a team that left the cohort comes behind": {waiting: []Waiter{waits(1, "z", "will", cohort), own}, held: append(live("b", 1), live("a", 1, 2)...), granted: []string{"a-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			granted, places := Take(c.waiting, c.held)
			require.Equal(t, c.granted, granted)
			approved := slices.DeleteFunc(c.waiting, func(w Waiter) bool { return w.Unapproved })
			require.Len(t, places, len(approved)-len(granted))
		})
	}
}

func TestWhoWaitsForItsOwnPlaceLearnsWhoHasIt(t *testing.T) {
	cohort := cohortOf(map[string]int{"a": 3, "b": 1, "c": 1})
	w := func(n int, team string) Waiter { return waits(n, team, "maya", teamLimit(team, CountLive, 9), cohort) }
	_, places := Take([]Waiter{w(1, "b"), w(2, "a"), w(3, "a")}, slices.Concat(live("a", 9), live("b", 5, 0), live("c", 3, 4)))
	together := "the teams of cohort payments may have 5 clusters live at once together"
	of := "; team a is within its quota of 3 and comes first; team c uses 1 beyond its quota, its first cluster ends at 2026-11-20 15:00 UTC; team b uses 1 beyond its quota, its first cluster ends at 2026-11-20 17:00 UTC"
	require.Equal(t, map[string]Turn{
		"a-2": {Position: 1, For: together + of, ETA: noon.Add(3 * time.Hour)},
		"a-3": {Position: 2, For: together + of, ETA: noon.Add(4 * time.Hour)},
		"b-1": {Position: 3, For: together, ETA: noon.Add(5 * time.Hour)},
	}, places)
	_, places = Take([]Waiter{w(1, "a"), w(2, "a")}, slices.Concat(live("a", 9, 9), live("b", 0, 0), live("c", 9)))
	require.Equal(t, together+"; team a is within its quota of 3 and comes first; team b uses 1 beyond its quota", places["a-1"].For)
	require.Equal(t, Turn{Position: 2, For: together, ETA: noon.Add(9 * time.Hour)}, places["a-2"], "the fourth would be borrowed")
}

func TestTheNewestWaiterKnowsTheCohort(t *testing.T) {
	before, now := cohortOf(map[string]int{"a": 1, "b": 1}), cohortOf(map[string]int{"a": 1, "b": 1, "c": 1})
	old, last := waits(1, "a", "maya", before), waits(2, "a", "maya", now)
	granted, _ := Take([]Waiter{last, old}, append(live("a", 1), live("b", 1)...))
	require.Equal(t, []string{"a-1"}, granted, "a team came in and brought a place")
	require.Equal(t, 2, old.Limits[0].Most, "what was given to Take stays as it is")
}

// drawCohort is a crowd of three teams of a cohort and one without, with further limits for some.
func drawCohort(t *rapid.T) (waiting []Waiter, held []Holder, cohort Limit) {
	teams := []string{"a", "b", "c", "z"}
	own := rapid.SliceOfN(rapid.IntRange(1, 4), 3, 3).Draw(t, "own")
	cohort = cohortOf(map[string]int{"a": own[0], "b": own[1], "c": own[2]})
	borrow := rapid.SliceOfN(rapid.IntRange(0, 4), 3, 3).Draw(t, "borrow")
	for range rapid.IntRange(0, 10).Draw(t, "held") {
		h := Holder{Party: party(rapid.SampledFrom(teams).Draw(t, "team"), "maya"), Creating: rapid.Bool().Draw(t, "creating")}
		if oracle(held, Limit{Scope: ScopeEverywhere, What: CountLive}) < cohort.Most || h.Team == "z" {
			held = append(held, h)
		}
	}
	for n := range rapid.IntRange(0, 12).Draw(t, "waiting") {
		i := rapid.IntRange(0, 3).Draw(t, "team")
		w := waits(n, teams[i], rapid.SampledFrom([]string{"maya", "will"}).Draw(t, "person"))
		w.Cluster, w.Priority = fmt.Sprintf("w%02d", n), rapid.SampledFrom([]int{-50, 0, 100}).Draw(t, "priority")
		if i < 3 {
			w.Limits = []Limit{teamLimit(w.Team, CountLive, own[i]+borrow[i]), cohort}
		}
		if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
			w.Limits = append(w.Limits, Limit{Scope: ScopePerson, Key: w.Person, What: CountLive, Most: rapid.IntRange(1, 9).Draw(t, "most")})
		}
		if rapid.IntRange(0, 3).Draw(t, "crowded") == 0 {
			w.Limits = append(w.Limits, all(rapid.IntRange(1, 15).Draw(t, "all")))
		}
		waiting = append(waiting, w)
	}
	return waiting, held, cohort
}

// together counts the live clusters of the cohort's teams, by nothing that Take uses.
func together(held []Holder, cohort Limit) (n int) {
	for _, h := range held {
		if _, in := cohort.Own[h.Team]; in {
			n++
		}
	}
	return n
}

func fitsCohort(held []Holder, w Waiter) bool {
	return !slices.ContainsFunc(w.Limits, func(l Limit) bool {
		if l.Scope == ScopeCohort {
			return together(held, l) >= l.Most
		}
		return oracle(held, l) >= l.Most
	})
}

// borrowsNow reports that the waiter's team has all that it is guaranteed.
func borrowsNow(held []Holder, w Waiter, cohort Limit) bool {
	own, in := cohort.Own[w.Team]
	return in && oracle(held, Limit{Scope: ScopeTeam, Key: w.Team, What: CountLive}) >= own
}

// The teams together never have more than the sum of their quotas; nobody who would borrow gets a place that somebody within a quota could have
// had; and nobody is left who would fit.
func TestACohortIsNeverPassedAndNoGuaranteeIsBroken(t *testing.T) {
	set(t, "rapid.checks", "3000")
	rapid.Check(t, func(t *rapid.T) {
		waiting, held, cohort := drawCohort(t)
		granted, places := Take(waiting, held)
		left := slices.Clone(waiting)
		for _, id := range granted {
			i := slices.IndexFunc(left, func(w Waiter) bool { return w.Cluster == id })
			w := left[i]
			require.True(t, fitsCohort(held, w), "%s passes a limit", id)
			for _, other := range left {
				if !fitsCohort(held, other) {
					continue
				}
				if borrowsNow(held, w, cohort) {
					require.True(t, borrowsNow(held, other, cohort), "%s borrows before %s has its own", id, other.Cluster)
				}
				if borrowsNow(held, w, cohort) == borrowsNow(held, other, cohort) {
					require.LessOrEqual(t, other.Priority, w.Priority, "%s comes before %s", other.Cluster, id)
				}
			}
			held = append(held, Holder{Party: w.Party, Creating: true})
			left = slices.Delete(left, i, i+1)
		}
		for _, w := range left {
			require.False(t, fitsCohort(held, w), "%s was left out", w.Cluster)
			require.Positive(t, places[w.Cluster].Position)
			require.NotEmpty(t, places[w.Cluster].For)
		}
	})
}

// Some await approval, clusters end one after the other, and everybody who ever waited has had a turn by the time all ended. The sum holds all
// the time.
func TestEverybodyOfACohortHasATurn(t *testing.T) {
	set(t, "rapid.checks", "500")
	rapid.Check(t, func(t *rapid.T) {
		waiting, held, cohort := drawCohort(t)
		for i := range waiting {
			waiting[i].Unapproved = rapid.IntRange(0, 4).Draw(t, "approval") == 0
		}
		for len(waiting) > 0 {
			granted, _ := Take(waiting, held)
			waiting = slices.DeleteFunc(waiting, func(w Waiter) bool {
				if slices.Contains(granted, w.Cluster) {
					held = append(held, Holder{Party: w.Party, Creating: true})
					return true
				}
				return false
			})
			require.LessOrEqual(t, together(held, cohort), cohort.Most)
			if len(held) > 0 {
				i := rapid.IntRange(0, len(held)-1).Draw(t, "end")
				held = slices.Delete(held, i, i+1)
			}
			if len(held) == 0 || rapid.Bool().Draw(t, "agree") {
				for i := range waiting {
					waiting[i].Unapproved = false
				}
			}
		}
	})
}
