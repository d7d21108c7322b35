package pool

import (
	"flag"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// countLives is how many random lives a test lives: a sixth of them with -short. LIVES=n makes it n.
func countLives(otherwise int) int {
	if testing.Short() {
		otherwise /= 6
	}
	if n, err := strconv.Atoi(os.Getenv("LIVES")); err == nil && n > 0 {
		return n
	}
	return otherwise
}

func setFlag(t *testing.T, name, value string) {
	t.Helper()
	old := flag.Lookup(name).Value.String()
	require.NoError(t, flag.Set(name, value))
	t.Cleanup(func() { require.NoError(t, flag.Set(name, old)) })
}

// Every life of a pool keeps the rules, whatever happens to its clusters and whatever people change, and ends with the pool that was wanted.
func TestEveryRandomLifeOfAPoolKeepsTheRules(t *testing.T) {
	setFlag(t, "rapid.checks", strconv.Itoa(countLives(1000)))
	setFlag(t, "rapid.seed", "1")
	setFlag(t, "rapid.nofailfile", "true")
	rapid.Check(t, func(t *rapid.T) {
		draws := map[int]*rapid.Generator[int]{}
		w := newWorld(Decide, func(n int) int {
			if draws[n] == nil {
				draws[n] = rapid.IntRange(0, n-1)
			}
			return draws[n].Draw(t, "pick")
		})
		if b := w.live(); b != nil {
			t.Fatalf("%s: %s\n%s", b.rule, b.what, w.lastLooks())
		}
	})
}

// The same world under plain seeds is faster, so that more lives fit into the same time.
func TestEverySeededLifeOfAPoolKeepsTheRules(t *testing.T) {
	for seed := range uint64(countLives(10_000)) {
		w := newWorld(Decide, seeded(seed))
		if b := w.live(); b != nil {
			require.Failf(t, b.rule, "seed %d: %s\n%s", seed, b.what, w.lastLooks())
		}
	}
}

func (w *world) lastLooks() string {
	var last []string
	for _, look := range w.history[max(len(w.history)-8, 0):] {
		last = append(last, look())
	}
	return strings.Join(last, "\n")
}

// mutants are ways to get Decide wrong. The random lives must notice every one of them by the rule that it breaks.
var mutants = []struct {
	rule, name string
	decide     decider
}{
	{"size", "one more is made", func(p Pool, f Facts) Acts {
		a := Decide(p, f)
		if a.Create > 0 && len(a.Why) == 0 {
			a.Create++
		}
		return a
	}},
	{"size", "a smaller pool ends nothing", without(Shrunk)},
	{"max", "what ends does not count", func(p Pool, f Facts) Acts {
		return Decide(p, f.only(func(c Cluster) bool { return c.State != Ending }))
	}},
	{"max", "what is claimed does not count", func(p Pool, f Facts) Acts {
		return Decide(p, f.only(func(c Cluster) bool { return c.State != Claimed }))
	}},
	{"concurrent", "one more is made at once", func(p Pool, f Facts) Acts { p.MaxConcurrent++; return Decide(p, f) }},
	{"money", "money does not count", func(p Pool, f Facts) Acts { p.WaitingCents = nil; return Decide(p, f) }},
	{"money", "nobody looks when it runs out", func(p Pool, f Facts) Acts { f.HourlyCents = 0; return Decide(p, f) }},
	{"money", "what waits costs money that is not there", without(OverBudget)},
	{"crowded", "clusters are made while people wait", func(p Pool, f Facts) Acts { f.Crowded = false; return Decide(p, f) }},
	{"crowded", "a create that has not begun keeps its place", without(YieldedToPeople)},
	{"truth", "a create that costs money is given up", func(p Pool, f Facts) Acts {
		return Decide(p, f.with(func(c *Cluster) { c.Begun = c.Begun && !f.Crowded }))
	}},
	{"age", "nothing is too old", func(p Pool, f Facts) Acts { p.MaxAge = 0; return Decide(p, f) }},
	{"age", "only what is ready gets old", func(p Pool, f Facts) Acts {
		return Decide(p, f.with(func(c *Cluster) {
			if c.State == Making {
				c.AcceptedAt = f.Now
			}
		}))
	}},
	{"unhealthy", "what cannot be used stays", func(p Pool, f Facts) Acts { return Decide(p, f.with(func(c *Cluster) { c.Healthy = true })) }},
	{"one by one", "all that is stale ends at once", func(p Pool, f Facts) Acts {
		a := Decide(p, f)
		for _, c := range f.Clusters {
			if c.isReady() && c.Digest != p.Digest && !slices.ContainsFunc(a.End, func(e End) bool { return e.ID == c.ID }) {
				a.End = append(a.End, End{c.ID, Stale})
			}
		}
		return a
	}},
	{"one by one", "the next is replaced before the last one is", func(p Pool, f Facts) Acts {
		a := Decide(p, f)
		p.Size = len(f.only(Cluster.isReady).Clusters)
		return a.endMore(Stale, Decide(p, f))
	}},
	{"one by one", "what is stale is replaced while nothing can be made", func(p Pool, f Facts) Acts {
		a := Decide(p, f)
		p.Paused, f.Crowded, f.Failures = false, false, 0
		a.Why = append(a.Why, Paused, YieldedToPeople, Failing)
		return a.endMore(Stale, Decide(p, f))
	}},
	{"one by one", "what is old goes before what is stale", func(p Pool, f Facts) Acts {
		fresh := Decide(p, f.with(func(c *Cluster) { c.Digest = p.Digest }))
		if slices.ContainsFunc(fresh.End, func(e End) bool { return e.Why == Aged }) {
			return fresh
		}
		return Decide(p, f)
	}},
	{"goes on", "what is stale is never replaced", func(p Pool, f Facts) Acts {
		return Decide(p, f.with(func(c *Cluster) {
			if c.isBegun() {
				c.Digest = p.Digest
			}
		}))
	}},
	{"shrink", "what is ready goes before what has not begun", func(p Pool, f Facts) Acts {
		return Decide(p, f.with(func(c *Cluster) { c.Begun = true }))
	}},
	{"shrink", "the youngest goes first", func(p Pool, f Facts) Acts {
		p.MaxAge = 0
		return Decide(p, f.with(func(c *Cluster) { c.AcceptedAt = f.Now.Add(-c.AcceptedAt.Sub(f.Now)) }))
	}},
	{"shrink", "what is fresh goes before what is stale", func(p Pool, f Facts) Acts {
		return without(Shrunk)(p, f).endMore(Shrunk, Decide(p, f.with(func(c *Cluster) { c.Digest = p.Digest })))
	}},
	{"claimed", "a drained pool ends claimed clusters", func(p Pool, f Facts) Acts {
		if p.Draining {
			f = f.with(func(c *Cluster) {
				if c.State == Claimed {
					c.State = Waiting
				}
			})
		}
		return Decide(p, f)
	}},
	{"power", "one more runs", func(p Pool, f Facts) Acts { p.Running++; return Decide(p, f) }},
	{"power", "nothing wakes", func(p Pool, f Facts) Acts { a := Decide(p, f); a.Wake = nil; return a }},
	{"power", "the oldest runs", func(p Pool, f Facts) Acts {
		a := Decide(p, f)
		turned := Decide(p, f.with(func(c *Cluster) { c.AcceptedAt = f.Now.Add(c.AcceptedAt.Sub(f.Now) / -1000) }))
		if len(turned.End) == len(a.End) {
			a.Sleep, a.Wake = turned.Sleep, turned.Wake
		}
		return a
	}},
	{"power", "what cannot sleep is put to sleep", func(p Pool, f Facts) Acts { p.Sleeps = true; return Decide(p, f) }},
	{"power", "it runs outside the hours", func(p Pool, f Facts) Acts {
		a := Decide(p, f)
		if p.Closed {
			a.Sleep = nil
		}
		return a
	}},
	{"failing", "failures do not count", func(p Pool, f Facts) Acts { f.Failures = 0; return Decide(p, f) }},
	{"failing", "the wait does not grow", func(p Pool, f Facts) Acts { f.Failures = min(f.Failures, 3); return Decide(p, f) }},
	{"failing", "after the wait all are tried", func(p Pool, f Facts) Acts {
		if f.Now.Sub(f.FailedAt) >= mostWait {
			f.Failures = 0
		}
		return Decide(p, f)
	}},
	{"failing", "nobody is told", func(p Pool, f Facts) Acts {
		a := Decide(p, f)
		a.Why = slices.DeleteFunc(a.Why, func(r Reason) bool { return r == Failing && len(a.Why) > 1 })
		return a
	}},
	{"goes on", "it is never tried again", func(p Pool, f Facts) Acts {
		if f.Failures >= 3 {
			f.FailedAt = f.Now
		}
		return Decide(p, f)
	}},
	{"look", "nobody looks when the wait is over", func(p Pool, f Facts) Acts {
		a := Decide(p, f)
		if slices.Contains(a.Why, Failing) {
			a.LookAt = time.Time{}
		}
		return a
	}},
	{"paused", "a paused pool goes on", func(p Pool, f Facts) Acts { p.Paused = false; return Decide(p, f) }},
	{"draining", "a drained pool stays", func(p Pool, f Facts) Acts { p.Draining = false; return Decide(p, f) }},
	{"closed", "hours do not count", func(p Pool, f Facts) Acts { p.Closed = false; return Decide(p, f) }},
	{"complete", "nothing is made although it could be", func(p Pool, f Facts) Acts { a := Decide(p, f); a.Create = 0; return a }},
	{"complete", "it does not say why nothing is made", func(p Pool, f Facts) Acts { a := Decide(p, f); a.Why = nil; return a }},
	{"look", "the next look comes late", func(p Pool, f Facts) Acts { a := Decide(p, f); a.LookAt = a.LookAt.Add(time.Hour); return a }},
	{"order", "the last in the list wakes", func(p Pool, f Facts) Acts {
		a := Decide(p, f)
		if one := f.only(func(c Cluster) bool { return c.State == Asleep }).Clusters; len(a.Wake) == 1 {
			a.Wake[0] = one[len(one)-1].ID
		}
		return a
	}},
}

// with returns the facts with every cluster changed.
func (f Facts) with(change func(*Cluster)) Facts {
	f.Clusters = slices.Clone(f.Clusters)
	for i := range f.Clusters {
		change(&f.Clusters[i])
	}
	return f
}

// only returns the facts with the clusters that fit.
func (f Facts) only(fits func(Cluster) bool) Facts {
	f.Clusters = slices.DeleteFunc(slices.Clone(f.Clusters), func(c Cluster) bool { return !fits(c) })
	return f
}

// endMore returns the acts with further ends for a reason.
func (a Acts) endMore(why EndWhy, from Acts) Acts {
	for _, e := range from.End {
		if e.Why == why && !slices.ContainsFunc(a.End, func(have End) bool { return have.ID == e.ID }) {
			a.End = append(a.End, e)
		}
	}
	return a
}

// without is Decide that ends nothing for a reason.
func without(why EndWhy) decider {
	return func(p Pool, f Facts) Acts {
		a := Decide(p, f)
		a.End = slices.DeleteFunc(a.End, func(e End) bool { return e.Why == why })
		return a
	}
}

func TestEveryMutantOfAPoolIsCaught(t *testing.T) {
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			for seed := range uint64(countLives(4000)) {
				if b := newWorld(m.decide, seeded(seed)).live(); b != nil && b.rule == m.rule {
					t.Logf("caught by life %d: %s", seed, b.what[:min(len(b.what), 90)])
					return
				}
			}
			require.Failf(t, "the mutant lives", "no life notices that %s", m.rule)
		})
	}
}
