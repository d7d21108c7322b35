package lifecycle

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func party(team, person string) Party { return Party{Person: person, Team: team, Repo: "acme/" + team} }

func teamLimit(team, what string, most int) Limit {
	return Limit{Quota: "teams", Scope: ScopeTeam, Key: team, What: what, Most: most}
}

func all(most int) Limit {
	return Limit{Quota: "all", Scope: ScopeEverywhere, What: CountLive, Most: most}
}

// waits is the nth to arrive.
func waits(n int, team, person string, limits ...Limit) Waiter {
	return Waiter{
		Party: party(team, person), Cluster: fmt.Sprintf("%s-%d", team, n), Weight: 1, Since: noon.Add(time.Duration(n) * time.Minute), Limits: limits,
	}
}

func unapproved(w Waiter) Waiter {
	w.Unapproved = true
	return w
}

func live(team string, ends ...int) (held []Holder) {
	for _, in := range ends {
		h := Holder{Party: party(team, "maya")}
		if in > 0 {
			h.Ends = noon.Add(time.Duration(in) * time.Hour)
		}
		held = append(held, h)
	}
	return held
}

func TestWhoseTurnItIs(t *testing.T) {
	a, b, both := teamLimit("a", CountLive, 2), teamLimit("b", CountLive, 9), all(5)
	heavy := waits(2, "b", "will", both)
	heavy.Weight = 3
	urgent, low := waits(3, "a", "maya", both), waits(1, "a", "maya", both)
	urgent.Priority, low.Priority = 50, -50
	for name, c := range map[string]struct {
		waiting []Waiter
		held    []Holder
		granted []string
	}{
		"nobody waits":                            {held: live("a", 1)},
		"there is capacity for all":               {waiting: []Waiter{waits(1, "a", "maya", a), waits(2, "a", "maya", a)}, granted: []string{"a-1", "a-2"}},
		"there is capacity for one":               {waiting: []Waiter{waits(2, "a", "maya", a), waits(1, "a", "maya", a)}, held: live("a", 1), granted: []string{"a-1"}},
		"a limit that was lowered is not passed":  {waiting: []Waiter{waits(1, "a", "maya", a)}, held: live("a", 1, 2, 3)},
		"a full limit holds up nobody else":       {waiting: []Waiter{waits(1, "a", "maya", a, both), waits(2, "b", "will", b, both)}, held: live("a", 1, 2), granted: []string{"b-2"}},
		"the team with fewest comes first":        {waiting: []Waiter{waits(1, "a", "maya", both), waits(2, "b", "will", both)}, held: append(live("a", 1, 2, 3), live("b", 1)...), granted: []string{"b-2"}},
		"for its weight":                          {waiting: []Waiter{waits(1, "a", "maya", both), heavy}, held: append(live("a", 1), live("b", 1, 2)...), granted: []string{"b-2", "a-1"}},
		"the highest priority comes before teams": {waiting: []Waiter{waits(1, "b", "will", both), waits(2, "a", "maya", both), urgent}, held: live("a", 1, 2, 3, 4), granted: []string{"a-3"}},
		"a low one comes last":                    {waiting: []Waiter{low, waits(2, "b", "will", both)}, held: live("b", 1, 2, 3, 4), granted: []string{"b-2"}},
		"of two alike the one that waits longest": {waiting: []Waiter{waits(2, "a", "maya", all(1)), waits(1, "b", "will", all(1))}, granted: []string{"b-1"}},
		"teams alternate":                         {waiting: []Waiter{waits(1, "a", "maya", both), waits(2, "a", "maya", both), waits(3, "a", "maya", both), waits(4, "b", "will", both), waits(5, "b", "will", both)}, held: live("c", 1), granted: []string{"a-1", "b-4", "a-2", "b-5"}},
		"what is being created is counted apart": {waiting: []Waiter{waits(1, "a", "maya", teamLimit("a", CountCreating, 1)), waits(2, "a", "maya", teamLimit("a", CountCreating, 1))},
			held: live("a", 1, 2, 3), granted: []string{"a-1"}},
		"a place is kept for what nobody approved yet":   {waiting: []Waiter{unapproved(waits(1, "a", "maya", a)), waits(2, "a", "maya", a), waits(3, "a", "maya", a)}, granted: []string{"a-2"}},
		"but not before those that were there before it": {waiting: []Waiter{waits(1, "a", "maya", a), unapproved(waits(2, "a", "maya", a))}, held: live("a", 1), granted: []string{"a-1"}},
		"and it creates nothing":                         {waiting: []Waiter{unapproved(waits(1, "a", "maya", teamLimit("a", CountCreating, 1))), waits(2, "a", "maya", teamLimit("a", CountCreating, 1))}, granted: []string{"a-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			granted, places := Take(c.waiting, c.held)
			require.Equal(t, c.granted, granted)
			approved := slices.DeleteFunc(c.waiting, func(w Waiter) bool { return w.Unapproved })
			require.Len(t, places, len(approved)-len(granted))
		})
	}
}

func TestWhereOneStandsAndWhenItsTurnMayCome(t *testing.T) {
	two := teamLimit("a", CountLive, 2)
	_, places := Take([]Waiter{waits(1, "a", "maya", two), waits(2, "a", "will", two), waits(3, "a", "will", two)}, live("a", 5, 3))
	text := "team a may have 2 clusters live at once (quota teams)"
	require.Equal(t, map[string]Turn{
		"a-1": {Position: 1, For: text, ETA: noon.Add(3 * time.Hour)},
		"a-2": {Position: 2, For: text, ETA: noon.Add(5 * time.Hour)},
		"a-3": {Position: 3, For: text},
	}, places, "the third needs one to end that has not begun")

	_, places = Take([]Waiter{waits(1, "a", "maya", two)}, live("a", 0, 4, 3, 1))
	require.Equal(t, noon.Add(4*time.Hour), places["a-1"].ETA, "three of the four have to go, and what is not known comes last")

	one := Limit{Quota: "mine", Scope: ScopePerson, Key: "maya", What: CountCreating, Most: 1}
	held := []Holder{{Party: party("a", "maya"), Creating: true, Ends: noon.Add(9 * time.Hour), Made: noon.Add(time.Hour)}, {Party: party("a", "will")}}
	_, places = Take([]Waiter{waits(1, "a", "maya", one)}, held)
	require.Equal(t, Turn{Position: 1, For: "person maya may have 1 cluster being created at once (quota mine)", ETA: noon.Add(time.Hour)}, places["a-1"])
	_, places = Take([]Waiter{waits(1, "a", "maya", one, two)}, held)
	require.Equal(t, Turn{Position: 1, For: text, ETA: noon.Add(9 * time.Hour)}, places["a-1"], "of several full limits the one that holds it up longest is told")
}

// oracle counts afresh, by nothing that Take uses.
func oracle(held []Holder, l Limit) (n int) {
	for _, h := range held {
		key := map[string]string{ScopePerson: h.Person, ScopeTeam: h.Team, ScopeRepository: h.Repo}[l.Scope]
		if key == l.Key && (l.What == CountLive || h.Creating) {
			n++
		}
	}
	return n
}

func fits(held []Holder, w Waiter) bool {
	return !slices.ContainsFunc(w.Limits, func(l Limit) bool { return oracle(held, l) >= l.Most })
}

// draw is a crowd with limits over all four scopes; each of those who wait has some of the limits that apply to it.
func draw(t *rapid.T) (waiting []Waiter, held []Holder) {
	teams, persons := []string{"a", "b", "c"}, []string{"maya", "will", "rita"}
	weights := rapid.SliceOfN(rapid.IntRange(1, 3), 3, 3).Draw(t, "weights")
	most := rapid.SliceOfN(rapid.IntRange(1, 6), 8, 8).Draw(t, "most")
	who := func() (int, Party) {
		team := rapid.IntRange(0, 2).Draw(t, "team")
		return team, party(teams[team], rapid.SampledFrom(persons).Draw(t, "person"))
	}
	for range rapid.IntRange(0, 8).Draw(t, "held") {
		_, p := who()
		held = append(held, Holder{Party: p, Creating: rapid.Bool().Draw(t, "creating"), Ends: noon.Add(time.Duration(rapid.IntRange(1, 99).Draw(t, "ends")) * time.Minute)})
	}
	for n := range rapid.IntRange(0, 12).Draw(t, "waiting") {
		team, p := who()
		w := Waiter{Party: p, Cluster: fmt.Sprintf("w%02d", n), Weight: weights[team], Since: noon.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "since")) * time.Minute)}
		for i, what := range []string{CountLive, CountCreating} {
			for j, l := range []Limit{{Scope: ScopePerson, Key: p.Person}, {Scope: ScopeTeam, Key: p.Team}, {Scope: ScopeRepository, Key: p.Repo}, {Scope: ScopeEverywhere}} {
				if l.What, l.Most = what, most[4*i+j]; rapid.Bool().Draw(t, "limited") {
					w.Limits = append(w.Limits, l)
				}
			}
		}
		waiting = append(waiting, w)
	}
	return waiting, held
}

// Every turn given fits at that moment and is the fairest there is; afterwards nobody is left who would fit; of two that
// differ in nothing but their arrival the earlier comes first; and everybody left knows a place of their own.
func TestTurnsPassNoLimitLeaveNoCapacityAndAreFair(t *testing.T) {
	set(t, "rapid.checks", "2000")
	rapid.Check(t, func(t *rapid.T) {
		waiting, held := draw(t)
		granted, places := Take(waiting, held)
		left := slices.Clone(waiting)
		for _, id := range granted {
			i := slices.IndexFunc(left, func(w Waiter) bool { return w.Cluster == id })
			w := left[i]
			require.True(t, fits(held, w), "%s passes a limit", id)
			for _, other := range left {
				if fits(held, other) {
					require.False(t, fairer(held, other, w), "%s comes before %s", other.Cluster, id)
				}
			}
			held = append(held, Holder{Party: w.Party, Creating: true})
			left = slices.Delete(left, i, i+1)
		}
		taken := map[string]map[int]bool{}
		for _, w := range left {
			require.False(t, fits(held, w), "%s was left out", w.Cluster)
			turn := places[w.Cluster]
			require.Positive(t, turn.Position)
			require.NotEmpty(t, turn.For)
			if taken[turn.For] == nil {
				taken[turn.For] = map[int]bool{}
			}
			require.False(t, taken[turn.For][turn.Position], "two have place %d for %s", turn.Position, turn.For)
			taken[turn.For][turn.Position] = true
		}
	})
}

func fairer(held []Holder, a, b Waiter) bool {
	if a.Team == b.Team {
		return earlier(a.claim(), b.claim()) < 0
	}
	share := func(w Waiter) float64 {
		return float64(oracle(held, Limit{Scope: ScopeTeam, Key: w.Team, What: CountLive})) / float64(w.Weight)
	}
	return share(a) < share(b)
}

// Clusters end one after the other, in any order; everybody who ever waited has had a turn by the time all ended.
func TestNobodyWaitsForEver(t *testing.T) {
	set(t, "rapid.checks", "500")
	rapid.Check(t, func(t *rapid.T) {
		waiting, held := draw(t)
		for len(waiting) > 0 {
			granted, _ := Take(waiting, held)
			waiting = slices.DeleteFunc(waiting, func(w Waiter) bool {
				if slices.Contains(granted, w.Cluster) {
					held = append(held, Holder{Party: w.Party, Creating: true})
					return true
				}
				return false
			})
			if len(waiting) == 0 {
				return
			}
			require.NotEmpty(t, held, "%d wait and nobody holds anything", len(waiting))
			i := rapid.IntRange(0, len(held)-1).Draw(t, "end")
			held = slices.Delete(held, i, i+1)
		}
	})
}

func BenchmarkTake(b *testing.B) {
	var held []Holder
	var waiting []Waiter
	for i := range 10_000 {
		held = append(held, Holder{Party: party(fmt.Sprint(i%50), fmt.Sprint(i%500)), Creating: i%10 == 0, Ends: noon.Add(time.Duration(i) * time.Second)})
	}
	for i := range 500 {
		team := fmt.Sprint(i % 50)
		waiting = append(waiting, waits(i, team, fmt.Sprint(i%500), teamLimit(team, CountLive, 300), all(10_001)))
	}
	b.ReportAllocs()
	for b.Loop() {
		granted, _ := Take(waiting, held)
		require.Len(b, granted, 1)
	}
}
