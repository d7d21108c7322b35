package lifecycle

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// poolWorld is a world in which a cluster is a pool's until somebody claims it, and runners prepare it for them.
func poolWorld(decide decider, pick func(int) int) *world {
	w := newWorld(decide, pick)
	w.row.Pool, w.row.Pooled, w.row.OffHours, w.row.Idle = "ready", true, false, Idle{}
	w.decide = func(c Cluster, f Facts, l Limits) Decision {
		d := decide(c, f, l)
		if what := prepareBreach(c, f, d); what != "" {
			w.breach(what, 0)
		}
		return d
	}
	w.added = map[Kind]func(*world, *runner){Prepare: (*world).preparing}
	w.asks = []func(*world){(*world).claimPooled}
	return w
}

// claimPooled gives the ready cluster to somebody, as the store does.
func (w *world) claimPooled() {
	if !w.row.Pooled || w.row.Status != Ready || w.row.Desired != Present || w.row.SleepWanted != (w.row.Power == Asleep) || w.row.Power == Changing {
		return
	}
	w.note("somebody claims it")
	w.touch(func(c *Cluster) {
		c.Pooled, c.ReadyAt = false, time.Time{}
		c.SleepWanted, c.SleepUntil, c.PowerBy = false, time.Time{}, ByPerson
		c.AskWork(Prepare)
		if !w.fair && w.chance(3) { // its claimant wants one more
			c.Addons = append(slices.Clone(c.Addons), "asked-for")
			c.AskWork(Configure)
		}
	})
}

// preparing is the way of a runner that prepares a cluster.
func (w *world) preparing(r *runner) {
	if !r.phaseReported {
		w.say(r, false)
		r.installing, r.steps = true, 1+w.pick(3)
		return
	}
	w.needsPower(r)
	if r.steps--; r.steps > 0 {
		return
	}
	r.installing = false
	r.result = &Attempt{Outcome: Succeeded}
	if w.row.Work[Configure].IsRequested() {
		r.result = w.installed()
	}
	if w.untaggable || !w.fair && w.chance(3) {
		r.result = &Attempt{Outcome: Failure, Reason: "ClusterNotWell", Message: "a node is not ready", Retryable: w.pick(3) < 2}
	}
}

// prepareBreach returns the rule of claims that a decision breaks.
func prepareBreach(c Cluster, f Facts, d Decision) string {
	n := d.Next
	owed := n.Work[Prepare].IsRequested()
	switch {
	case d.Open == Prepare && (n.Status != Ready || n.Desired != Present || n.SleepWanted || n.Power != Awake || n.Pooled):
		return "a cluster is prepared that cannot be, or that nobody claimed"
	case owed && n.Usable():
		return "a cluster can be used that is not prepared"
	case owed && (d.Open == Access && f.Access.Take == 0 || d.Open == Scale || d.Open == Configure):
		return "something else is done before a claimed cluster is prepared"
	case c.Pooled && (d.Warn > 0 || d.WarnRest || d.TellIdle):
		return "somebody is warned of a cluster that nobody has"
	case n.Pooled != c.Pooled:
		return "a decision claims a cluster"
	case c.ReadyAt.IsZero() && !n.ReadyAt.IsZero() && n.Work[Prepare].Wanted > 0 && n.Work[Prepare].Done == 0:
		return "a claimed cluster is ready before it is prepared"
	}
	return ""
}

// claimed is a world whose cluster was claimed after it had waited.
func claimed(change func(*world)) *world {
	w := poolWorld(Decide, func(int) int { return 0 })
	w.fair = true
	w.until(func() bool { return w.row.Status == Ready && w.open() == nil })
	change(w)
	w.claimPooled()
	return w
}

func TestAClaimedClusterIsUsedOnceItIsPrepared(t *testing.T) {
	w := claimed(func(*world) {})
	require.False(t, w.row.Usable())
	require.Equal(t, SignalBegun, SignalOf(w.row))
	w.until(func() bool { return w.open() != nil && w.open().Kind == Prepare })
	require.Equal(t, Preparing, w.row.Phase)
	require.Equal(t, WaitsForCluster, WaitOf(w.row))
	w.until(func() bool { return w.row.Usable() })
	require.False(t, w.row.ReadyAt.IsZero())
	require.Contains(t, w.jobs, publicJob{JobPrepare, JobSucceeded})
	require.Equal(t, SignalReady, SignalOf(w.row))
}

func TestAClaimedClusterGetsTheAddonsThatItLacksBeforeItIsUsed(t *testing.T) {
	for name, c := range map[string]struct {
		seen  *int
		there bool
	}{"all": {new(2), true}, "one is missing": {new(1), false}, "an older runner knows nothing of it": {nil, false}} {
		t.Run(name, func(t *testing.T) {
			w := claimed(func(*world) {})
			w.touch(func(c *Cluster) {
				c.Addons = []string{"cert-manager", "asked-for"}
				c.AskWork(Configure)
			})
			w.until(func() bool { return w.open() != nil && w.open().Kind == Prepare })
			require.False(t, w.row.Usable())
			w.ends(Attempt{Outcome: Succeeded, AddonsSeen: c.seen})
			w.until(func() bool { return w.row.Usable() })
			require.Equal(t, c.there, !w.row.Work[Configure].IsRequested(), "what is missing is tried again beside the ready cluster")
			if c.there {
				return
			}
			require.Contains(t, w.row.Why.String(), "the others will be tried again")
			w.until(func() bool { return w.open() != nil && w.open().Kind == Configure })
			w.until(func() bool { return !w.row.Work[Configure].IsRequested() })
			require.Contains(t, w.jobs, publicJob{JobConfigure, JobSucceeded})
		})
	}
}

func TestAClusterThatWaitsAsleepIsWokenBeforeItIsPrepared(t *testing.T) {
	w := claimed(func(w *world) {
		w.putToSleep(3 * time.Hour)
		w.until(func() bool { return w.row.Phase == PhaseAsleep })
	})
	w.until(func() bool { return w.open() != nil })
	require.Equal(t, Wake, w.open().Kind)
	w.until(func() bool { return w.row.Usable() && w.row.Phase == PhaseReady })
}

func TestAClusterThatCannotBePreparedFailsAndGoes(t *testing.T) {
	w := claimed(func(w *world) { w.untaggable = true })
	w.until(func() bool { return w.row.Desired == Absent })
	require.Equal(t, ReasonInstallFailed, w.row.DesiredWhy.Code)
	require.Equal(t, NotPrepared, w.row.FailReason)
	require.Contains(t, w.jobs, publicJob{JobPrepare, JobFailed})
	w.until(func() bool { return w.row.Phase == Released })
	require.True(t, w.row.ReadyAt.IsZero(), "nobody ever had it")
}

func TestClaimsKeepTheRulesInRandomLives(t *testing.T) {
	prepared := 0
	for seed := range uint64(lives(1500)) {
		w := poolWorld(Decide, seeded(seed))
		if b := caught(func() { w.live(hostileSteps) }); b != nil {
			require.Failf(t, "a rule is broken", "seed %d, rule %v: %s\n%s", seed, b.rules, b.what, w.historyText())
		}
		if w.row.Work[Prepare].Done > 0 {
			prepared++
		}
		require.NotContains(t, w.jobs, publicJob{JobPrepare, JobRunning}, "no job is left over")
	}
	require.NotZero(t, prepared)
}
