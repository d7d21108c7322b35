package pool

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// three is a pool of three that has everything it needs.
func three() (Pool, Facts) {
	p := Pool{Size: 3, Running: 1, Max: 6, MaxConcurrent: 2, MaxAge: 72 * time.Hour, Digest: "new", Sleeps: true}
	f := Facts{Now: noon, Clusters: []Cluster{ready("a", 3), ready("b", 2), ready("c", 1)}}
	f.Clusters[0].State, f.Clusters[1].State = Asleep, Asleep
	return p, f
}

// ready is a cluster that was accepted some hours ago and waits.
func ready(id string, hours time.Duration) Cluster {
	at := noon.Add(-hours * time.Hour)
	return Cluster{ID: id, State: Waiting, Begun: true, AcceptedAt: at, ReadyAt: at.Add(40 * time.Minute), Digest: "new", Healthy: true}
}

func making(id string, minutes time.Duration, begun bool) Cluster {
	return Cluster{ID: id, State: Making, Begun: begun, AcceptedAt: noon.Add(-minutes * time.Minute), Digest: "new"}
}

func TestAFullPoolNeedsNothingUntilAClusterGetsOld(t *testing.T) {
	p, f := three()
	require.Equal(t, Acts{LookAt: f.Clusters[0].AcceptedAt.Add(p.MaxAge * 9 / 10)}, Decide(p, f))
	p.MaxAge = 0
	require.Equal(t, Acts{}, Decide(p, f))
	require.Equal(t, Acts{}, Decide(Pool{}, Facts{}))
}

func TestWhatIsMissingIsMadeWithinTheLimits(t *testing.T) {
	cents := int64(1000)
	for name, c := range map[string]struct {
		change func(*Pool, *Facts)
		create int
		why    []Reason
	}{
		"two at once":             {func(*Pool, *Facts) {}, 2, []Reason{Busy}},
		"three at once":           {func(p *Pool, _ *Facts) { p.MaxConcurrent = 3 }, 3, nil},
		"one is being made":       {func(_ *Pool, f *Facts) { f.Clusters = append(f.Clusters, making("m", 5, true)) }, 1, []Reason{Busy}},
		"few below the maximum":   {func(p *Pool, _ *Facts) { p.Max = 1 }, 1, []Reason{Full, Busy}},
		"paused":                  {func(p *Pool, _ *Facts) { p.Paused = true }, 0, []Reason{Paused, Busy}},
		"draining":                {func(p *Pool, _ *Facts) { p.Draining = true }, 0, []Reason{Drained, Busy}},
		"outside its hours":       {func(p *Pool, _ *Facts) { p.Closed = true }, 0, []Reason{Closed, Busy}},
		"people wait":             {func(_ *Pool, f *Facts) { f.Crowded = true }, 0, []Reason{YieldedToPeople, Busy}},
		"the money is spent":      {func(p *Pool, f *Facts) { p.WaitingCents, f.SpentCents = &cents, 1000 }, 0, []Reason{OverBudget, Busy}},
		"money for one":           {func(p *Pool, f *Facts) { p.WaitingCents, f.HourlyCents = &cents, 300 }, 1, []Reason{OverBudget, Busy}},
		"money, but what for?":    {func(p *Pool, f *Facts) { p.WaitingCents, f.SpentCents = &cents, 999 }, 2, []Reason{Busy}},
		"two failures":            {func(_ *Pool, f *Facts) { f.Failures, f.FailedAt = 2, noon }, 2, []Reason{Busy}},
		"three failures":          {func(_ *Pool, f *Facts) { f.Failures, f.FailedAt = 3, noon.Add(-299*time.Second) }, 0, []Reason{Failing, Busy}},
		"three failures, later":   {func(_ *Pool, f *Facts) { f.Failures, f.FailedAt = 3, noon.Add(-5*time.Minute) }, 1, []Reason{Failing, Busy}},
		"seven failures":          {func(_ *Pool, f *Facts) { f.Failures, f.FailedAt = 7, noon.Add(-59*time.Minute) }, 0, []Reason{Failing, Busy}},
		"many failures, later":    {func(_ *Pool, f *Facts) { f.Failures, f.FailedAt = math.MaxInt, noon.Add(-time.Hour) }, 1, []Reason{Failing, Busy}},
		"one failure is too much": {func(p *Pool, f *Facts) { p.MostFailures, f.Failures, f.FailedAt = 1, 1, noon }, 0, []Reason{Failing, Busy}},
	} {
		t.Run(name, func(t *testing.T) {
			p, f := three()
			f.Clusters = nil
			c.change(&p, &f)
			acts := Decide(p, f)
			require.Equal(t, c.create, acts.Create)
			require.Equal(t, c.why, acts.Why)
			require.Empty(t, acts.End)
		})
	}
}

func TestATryAfterFailuresIsAlone(t *testing.T) {
	p, f := three()
	f.Clusters, f.Failures, f.FailedAt = []Cluster{making("m", 5, true)}, 3, noon.Add(-time.Hour)
	require.Zero(t, Decide(p, f).Create)
	f.FailedAt = noon.Add(-time.Minute)
	require.Equal(t, noon.Add(4*time.Minute), Decide(p, f).LookAt)
}

func TestCreatesYieldToPeopleUntilTheyCostMoney(t *testing.T) {
	p, f := three()
	f.Clusters, f.Crowded = []Cluster{making("a", 3, true), making("b", 2, false), making("c", 1, false)}, true
	require.Equal(t, []End{{"c", YieldedToPeople}, {"b", YieldedToPeople}}, Decide(p, f).End)
}

func TestStaleClustersAreReplacedOneByOne(t *testing.T) {
	p, f := three()
	p.Digest, p.MaxConcurrent = "newer", 3
	acts := Decide(p, f)
	require.Equal(t, []End{{"a", Stale}}, acts.End)
	require.Equal(t, 1, acts.Create)

	f.Clusters[0].State = Ending
	require.Empty(t, Decide(p, f).End, "the replacement is not ready yet")
	next := making("d", 5, true)
	next.Digest = p.Digest
	f.Clusters = append(f.Clusters[1:], next)
	require.Empty(t, Decide(p, f).End)
	f.Clusters[2].State, f.Clusters[2].Healthy = Waiting, true
	require.Equal(t, []End{{"b", Stale}}, Decide(p, f).End)

	for name, stop := range map[string]func(*Pool, *Facts){
		"paused":          func(p *Pool, _ *Facts) { p.Paused = true },
		"people wait":     func(_ *Pool, f *Facts) { f.Crowded = true },
		"creates fail":    func(_ *Pool, f *Facts) { f.Failures, f.FailedAt = 3, noon },
		"nobody is there": func(p *Pool, _ *Facts) { p.Closed = true },
		"there is no money for another": func(p *Pool, f *Facts) {
			cents := int64(500)
			p.WaitingCents, f.HourlyCents = &cents, 100
		},
	} {
		p, f := p, f
		stop(&p, &f)
		require.Empty(t, Decide(p, f).End, name)
	}
}

func TestOldClustersAreReplacedOneByOneBeforeTheyHaveToGo(t *testing.T) {
	p, f := three()
	f.Now = noon.Add(66 * time.Hour)
	acts := Decide(p, f)
	require.Equal(t, []End{{"a", Aged}}, acts.End)
	require.Equal(t, 1, acts.Create)
	f.Now = noon.Add(72 * time.Hour)
	require.Equal(t, []End{{"c", Aged}, {"b", Aged}, {"a", Aged}}, Decide(p, f).End, "in the end whatever becomes of the pool")
}

func TestWhatCannotBeUsedEndsAtOnceAndBeforeWhatIsStale(t *testing.T) {
	p, f := three()
	p.Digest = "newer"
	f.Clusters[1].Healthy, f.Clusters[2].Healthy = false, false
	require.Equal(t, []End{{"c", Unhealthy}, {"b", Unhealthy}}, Decide(p, f).End)
	p.Paused = true
	require.Len(t, Decide(p, f).End, 2)
}

func TestShrinkingEndsWhatIsWorthLeast(t *testing.T) {
	p, f := three()
	f.Failures, f.FailedAt = 3, noon // nothing is replaced meanwhile
	f.Clusters = append(f.Clusters, making("d", 10, false), making("e", 5, false))
	f.Clusters[2].Digest = "old"
	for n, want := range [][]End{{}, {{"e", Shrunk}}, {{"d", Shrunk}}, {{"c", Shrunk}}, {{"a", Shrunk}}, {{"b", Shrunk}}} {
		p.Size = 5 - n
		acts := Decide(p, f)
		require.Len(t, acts.End, n)
		if n > 0 {
			require.Equal(t, want[0], acts.End[n-1])
		}
	}
	p, f = three()
	for i := range 5 {
		c := ready(string(rune('v'+i)), 100)
		c.State = Claimed
		f.Clusters = append(f.Clusters, c)
	}
	acts := Decide(p, f)
	require.Equal(t, []End{{"a", Shrunk}, {"b", Shrunk}}, acts.End, "six together, of which five are claimed")
	require.Equal(t, []Reason{Full}, acts.Why)
}

func TestAPoolOutsideItsHoursSleepsOrEnds(t *testing.T) {
	p, f := three()
	f.Clusters = append(f.Clusters[1:], making("d", 10, true))
	p.Closed = true
	acts := Decide(p, f)
	require.Equal(t, []string{"c"}, acts.Sleep)
	require.Empty(t, acts.End)
	p.Sleeps = false
	require.Equal(t, []End{{"d", Closed}, {"c", Closed}, {"b", Closed}}, Decide(p, f).End)
	p.Sleeps, p.Draining = true, true
	require.Equal(t, []End{{"d", Drained}, {"c", Drained}, {"b", Drained}}, Decide(p, f).End)
}

func TestAsManyRunAsShould(t *testing.T) {
	p, f := three()
	p.Running = 2
	require.Equal(t, []string{"b"}, Decide(p, f).Wake, "the youngest of those that sleep")
	f.Clusters[1].Digest = "old"
	p.MaxAge, p.Paused = 0, true
	require.Equal(t, []string{"a"}, Decide(p, f).Wake, "a fresh one before one that is stale")
	f.Clusters[0].State = Changing
	require.Empty(t, Decide(p, f).Wake, "one is on its way")
	f.Clusters[0].State, f.Clusters[1].State, p.Running = Waiting, Waiting, 1
	require.Equal(t, []string{"a", "b"}, Decide(p, f).Sleep)
	p.Sleeps = false
	require.Empty(t, Decide(p, f).Sleep)
	f.Clusters[2].State = Asleep
	require.Equal(t, []string{"c"}, Decide(p, f).Wake)
}

func TestMoneyRunsOutAtATimeThatIsKnown(t *testing.T) {
	p, f := three()
	cents := int64(3000)
	p.MaxAge = 0
	p.WaitingCents, f.HourlyCents, f.SpentCents = &cents, 100, 1800
	require.Equal(t, noon.Add(4*time.Hour-15*time.Minute), Decide(p, f).LookAt)
	f.SpentCents = 2926
	acts := Decide(p, f)
	require.Equal(t, []End{{"a", OverBudget}}, acts.End)
	require.Equal(t, []Reason{OverBudget}, acts.Why)
	f.SpentCents = 3000
	acts = Decide(p, f)
	require.Len(t, acts.End, 3)
	require.Equal(t, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), acts.LookAt, "with the next month")
}

func TestEveryInputHasAnAnswer(t *testing.T) {
	cents := int64(math.MinInt64)
	p := Pool{Size: -1, Running: -1, Max: -1, MaxConcurrent: -1, MaxAge: -1, WaitingCents: &cents, MostFailures: -1, Sleeps: true}
	f := Facts{SpentCents: math.MaxInt64, HourlyCents: math.MinInt64, Failures: math.MinInt, Clusters: []Cluster{{State: Waiting}, {State: Asleep}, {State: "odd"}, {}}}
	require.Zero(t, Decide(p, f).Create)
	p.Size, p.Max, cents, f.SpentCents, f.HourlyCents = math.MaxInt, math.MaxInt, math.MaxInt64, math.MinInt64, math.MaxInt64
	require.NotPanics(t, func() { Decide(p, f) })
}
