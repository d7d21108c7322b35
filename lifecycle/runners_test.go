package lifecycle

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var east, west = Site{"aws", "111122223333", "us-east-1"}, Site{"aws", "111122223333", "us-west-2"}

// awaits is the nth that waits for a runner.
func awaits(n int, k Kind, team string, at Site) RunnerWaiter {
	return RunnerWaiter{Cluster: fmt.Sprintf("%s-%d", k, n), Kind: k, Team: team, Weight: 1, Site: at, Since: noon.Add(time.Duration(n) * time.Minute)}
}

func running(n int, k Kind, team string, at Site) (all []Runner) {
	for i := range n {
		all = append(all, Runner{Kind: k, Team: team, Site: at, Ends: noon.Add(time.Duration(10*i+10) * time.Minute)})
	}
	return all
}

func TestWhoGetsAFreeRunner(t *testing.T) {
	heavy := awaits(2, Create, "b", east)
	heavy.Weight = 3
	stuck := awaits(1, Create, "a", east)
	stuck.Idle = true
	urgent, urgentEnd := awaits(9, Create, "a", east), awaits(9, Destroy, "a", east)
	urgent.Priority, urgentEnd.Priority = 50, 50
	for name, c := range map[string]struct {
		caps    RunnerCaps
		waiting []RunnerWaiter
		running []Runner
		next    []string
	}{
		"a teardown comes before a create that waited longer": {RunnerCaps{All: 3}, []RunnerWaiter{awaits(1, Create, "a", east), awaits(2, Destroy, "a", east)}, running(2, Create, "a", east), []string{"destroy-2"}},
		"a scaling comes between them":                        {RunnerCaps{All: 10}, []RunnerWaiter{awaits(1, Create, "a", east), awaits(2, Scale, "a", east), awaits(3, Destroy, "a", east)}, running(7, Create, "a", east), []string{"destroy-3", "scale-2"}},
		"a change of access comes before a scaling":           {RunnerCaps{All: 4}, []RunnerWaiter{awaits(1, Scale, "a", east), awaits(2, Access, "a", east)}, running(3, Create, "a", east), []string{"access-2"}},
		"creates leave a fifth to teardowns":                  {RunnerCaps{All: 10}, []RunnerWaiter{awaits(1, Create, "a", east)}, running(8, Create, "a", east), nil},
		"and teardowns may use all":                           {RunnerCaps{All: 10}, []RunnerWaiter{awaits(1, Create, "a", east), awaits(2, Destroy, "a", east), awaits(3, Destroy, "a", east), awaits(4, Destroy, "a", east)}, running(8, Create, "a", east), []string{"destroy-2", "destroy-3"}},
		"a cap of one serves creates too":                     {RunnerCaps{Region: 1}, []RunnerWaiter{awaits(1, Create, "a", east), awaits(2, Create, "a", west)}, nil, []string{"create-1", "create-2"}},
		"a full region holds up no other":                     {RunnerCaps{Region: 2}, []RunnerWaiter{awaits(1, Create, "a", east), awaits(2, Create, "a", east), awaits(3, Create, "a", west)}, running(1, Create, "a", east), []string{"create-3"}},
		"an account has its cap over all its regions":         {RunnerCaps{Account: 2}, []RunnerWaiter{awaits(1, Create, "a", west)}, running(1, Create, "a", east), nil},
		"the team with fewest creates comes first":            {RunnerCaps{All: 5}, []RunnerWaiter{awaits(1, Create, "a", east), awaits(2, Create, "b", east)}, running(3, Create, "a", east), []string{"create-2"}},
		"for its weight":                                      {RunnerCaps{All: 7}, []RunnerWaiter{awaits(1, Create, "a", east), heavy}, append(running(2, Create, "a", east), running(3, Create, "b", east)...), []string{"create-2"}},
		"the higher priority comes before teams":              {RunnerCaps{All: 5}, []RunnerWaiter{urgent, awaits(2, Create, "b", east)}, running(3, Create, "a", east), []string{"create-9"}},
		"which other work does not have":                      {RunnerCaps{All: 4}, []RunnerWaiter{urgentEnd, awaits(2, Destroy, "b", east)}, running(3, Create, "a", east), []string{"destroy-2"}},
		"teardowns are first come, first served":              {RunnerCaps{All: 4}, []RunnerWaiter{awaits(2, Destroy, "b", east), awaits(1, Destroy, "a", east)}, running(3, Destroy, "a", east), []string{"destroy-1"}},
		"one that could start and does not holds up nobody":   {RunnerCaps{All: 4}, []RunnerWaiter{stuck, awaits(2, Create, "a", east)}, running(2, Create, "a", east), []string{"create-1", "create-2"}},
		"without caps everybody starts":                       {RunnerCaps{}, []RunnerWaiter{awaits(1, Create, "a", east)}, running(999, Create, "a", east), []string{"create-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			next, places := c.caps.Take(c.waiting, c.running)
			require.Equal(t, c.next, next)
			require.Len(t, places, len(c.waiting)-len(next))
		})
	}
}

func TestWhereOneStandsForARunnerAndWhenItMayCome(t *testing.T) {
	_, places := RunnerCaps{All: 5}.Take([]RunnerWaiter{
		awaits(1, Create, "a", east), awaits(2, Create, "a", east), awaits(3, Scale, "a", east),
	}, running(4, Create, "a", east))
	words := "at most 4 run at once in this installation besides teardowns"
	require.Equal(t, map[string]Turn{
		"scale-3":  {Position: 1, For: words, ETA: noon.Add(10 * time.Minute)},
		"create-1": {Position: 2, For: words, ETA: noon.Add(20 * time.Minute)},
		"create-2": {Position: 3, For: words, ETA: noon.Add(30 * time.Minute)},
	}, places)
	_, places = RunnerCaps{Account: 2, Region: 1}.Take([]RunnerWaiter{awaits(1, Destroy, "a", east)}, running(1, Destroy, "a", east))
	require.Equal(t, "at most 1 run at once in region us-east-1 of account 111122223333", places["destroy-1"].For)
	_, places = RunnerCaps{Account: 1}.Take([]RunnerWaiter{awaits(1, Destroy, "a", Site{"aws", "", "us-east-1"})}, running(1, Destroy, "a", Site{"aws", "", "us-west-2"}))
	require.Equal(t, "at most 1 run at once in the runners' aws account", places["destroy-1"].For)
}

func TestPositionsFarBackAreShownInSteps(t *testing.T) {
	for _, c := range []struct {
		shown, place int
		moved        bool
	}{{1, 1, false}, {2, 1, true}, {11, 10, true}, {100, 99, false}, {100, 91, false}, {100, 90, true}, {100, 110, true}, {1, 50, true}} {
		require.Equal(t, c.moved, Turn{Position: c.place}.Moved(c.shown), "%+v", c)
	}
}

// runnersFit counts afresh, by nothing that Take uses.
func runnersFit(c RunnerCaps, running []Runner, k Kind, at Site) bool {
	for _, bound := range []struct {
		most int
		in   func(Runner) bool
	}{
		{c.All, func(Runner) bool { return true }},
		{c.Account, func(r Runner) bool { return r.Account == at.Account }},
		{c.Region, func(r Runner) bool { return r.Account == at.Account && r.Region == at.Region }},
	} {
		all, others := 0, 0
		for _, r := range running {
			if bound.in(r) {
				all++
				if r.Kind != Destroy && r.Kind != Access {
					others++
				}
			}
		}
		reserved := 0
		if bound.most > 1 {
			reserved = max(1, bound.most/5)
		}
		if bound.most > 0 && (all >= bound.most || k != Destroy && k != Access && others >= bound.most-reserved) {
			return false
		}
	}
	return true
}

// No cap is passed, no runner is left that somebody could use, teardowns come first and creates are fair; and every runner given is
// one that Decide would start.
func TestRunnersPassNoCapLeaveNoneFreeAndTeardownsComeFirst(t *testing.T) {
	set(t, "rapid.checks", "2000")
	rapid.Check(t, func(t *rapid.T) {
		caps := RunnerCaps{rapid.IntRange(0, 9).Draw(t, "all"), rapid.IntRange(0, 6).Draw(t, "account"), rapid.IntRange(0, 4).Draw(t, "region")}
		sites := []Site{east, west, {"aws", "444455556666", "us-east-1"}}
		kinds := []Kind{Create, Create, Create, Destroy, Destroy, Scale, Configure, Access, Sleep, Wake}
		weights := map[string]int{"a": rapid.IntRange(1, 3).Draw(t, "weight"), "b": 1, "c": 2}
		draw := func() (Kind, string, Site) {
			return rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "team"), rapid.SampledFrom(sites).Draw(t, "site")
		}
		var waiting []RunnerWaiter
		var running []Runner
		for range rapid.IntRange(0, 9).Draw(t, "running") {
			k, team, at := draw()
			running = append(running, Runner{Kind: k, Team: team, Site: at, Ends: noon})
		}
		for n := range rapid.IntRange(0, 12).Draw(t, "waiting") {
			k, team, at := draw()
			w := awaits(n, k, team, at)
			w.Weight = weights[team]
			waiting = append(waiting, w)
		}
		next, places := caps.Take(waiting, running)
		left := slices.Clone(waiting)
		for _, id := range next {
			i := slices.IndexFunc(left, func(w RunnerWaiter) bool { return w.Cluster == id })
			w := left[i]
			require.True(t, runnersFit(caps, running, w.Kind, w.Site), "%s passes a cap", id)
			for _, other := range left {
				if runnersFit(caps, running, other.Kind, other.Site) {
					require.False(t, comesFirst(running, other, w), "%s comes before %s", other.Cluster, id)
				}
			}
			running = append(running, Runner{Kind: w.Kind, Team: w.Team, Site: w.Site})
			left = slices.Delete(left, i, i+1)
		}
		for _, w := range left {
			require.False(t, runnersFit(caps, running, w.Kind, w.Site), "%s was left out", w.Cluster)
			require.Positive(t, places[w.Cluster].Position)
			require.NotEmpty(t, places[w.Cluster].For)
		}
	})
}

// comesFirst reports whether a has to start before b.
func comesFirst(running []Runner, a, b RunnerWaiter) bool {
	order := map[Kind]int{Destroy: 0, Access: 1, Scale: 2, Configure: 2, Sleep: 2, Wake: 2, Create: 3}
	if order[a.Kind] != order[b.Kind] {
		return order[a.Kind] < order[b.Kind]
	}
	share := func(w RunnerWaiter) float64 {
		n := 0
		for _, r := range running {
			if r.Kind == Create && r.Team == w.Team {
				n++
			}
		}
		return float64(n) / float64(w.Weight)
	}
	if a.Kind == Create && share(a) != share(b) {
		return share(a) < share(b)
	}
	return a.Since.Before(b.Since)
}

func BenchmarkTakeRunners(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var waiting []RunnerWaiter
			for i := range n {
				k := Create
				if i%10 == 0 {
					k = Destroy
				}
				waiting = append(waiting, awaits(i, k, fmt.Sprint(i%50), []Site{east, west}[i%2]))
			}
			now := running(199, Create, "1", east)
			b.ReportAllocs()
			for b.Loop() {
				next, places := RunnerCaps{All: 200, Account: 200, Region: 200}.Take(waiting, now)
				require.Len(b, next, 1)
				require.Len(b, places, n-1)
			}
		})
	}
}
