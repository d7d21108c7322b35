package lifecycle

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mutants are ways to get Decide wrong, one or more for each rule. The random lives must notice every one of them by
// the rule it breaks; 0 stands for the promise that every life ends. What a felt mutant does shows in the world even to
// somebody who never looks at a decision: an install beside its destroyer, things left in the cloud, work without an end.
var mutants = slices.Concat(lifeMutants, waitMutants, addonMutants, accessMutants, sleepMutants, hoursMutants, idleMutants, observeMutants, tagMutants, runnerMutants, warningMutants, leakMutants, brakeMutants, spotMutants)

type mutant struct {
	rule   int
	felt   bool
	name   string
	decide decider
}

// lifeMutants are of the life from the first attempt to the last.
var lifeMutants = []mutant{
	{0, true, "a blocked teardown is given up", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Phase == DestroyBlocked && d.Open != "" {
			return Decision{Next: c}
		}
		return d
	}},
	{0, false, "a full account spends a try", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open == nil && f.Last != nil && f.Last.Outcome == Waiting && f.Last.Number > seenOf(c, f.Last) {
			d.Next.Tries++
		}
		return d
	}},
	{1, false, "a reopened pull request revives a dying cluster", func(c Cluster, f Facts, l Limits) Decision {
		if c.Status == Destroying && f.Now.Before(c.Ends.DestroyAt()) {
			c.Desired = Present
		}
		return Decide(c, f, l)
	}},
	{1, false, "closing a pull request changes the desired state at once", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if !c.Ends.PRClosed.IsZero() && d.Next.Desired == Present {
			d.Next.Desired, d.Next.DesiredWhy, d.Next.Teardown = Absent, Reason{Code: ReasonPRClosed}, JobJanitorDestroy
		}
		return d
	}},
	{2, false, "a runner nobody can see is taken for gone", func(c Cluster, f Facts, l Limits) Decision {
		if f.Runner == Unknown {
			f.Runner = Ended
		}
		return Decide(c, f, l)
	}},
	{2, true, "an install nobody can see is taken for gone", func(c Cluster, f Facts, l Limits) Decision {
		if f.Open != nil && f.Open.Phase == Installing && f.Runner == Unknown {
			f.Runner = Ended
		}
		return Decide(c, f, l)
	}},
	{2, false, "a silent runner is given no grace", func(c Cluster, f Facts, l Limits) Decision {
		l.LeaseGrace = 0
		return Decide(c, f, l)
	}},
	{3, false, "a launch is asked for once", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open != nil {
			d.Effects = slices.DeleteFunc(d.Effects, func(e Effect) bool { return e.Kind == Launch })
		}
		return d
	}},
	{3, false, "a stop is asked for once", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Phase == Stopping {
			d.Effects = nil
		}
		return d
	}},
	{4, false, "the destroyer's attempt is opened beside the install's", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == Stopping {
			d.Open, d.OpenJob = Destroy, d.Next.Teardown
		}
		return d
	}},
	{4, false, "a retry keeps the number", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Open != "" && f.Last != nil {
			d.Effects = []Effect{{Launch, f.Last.Number}}
		}
		return d
	}},
	{4, false, "a runner that is still alive is overlooked", func(c Cluster, f Facts, l Limits) Decision {
		f.Beside = nil
		return Decide(c, f, l)
	}},
	{4, false, "a runner that is still alive is waited for and not asked to stop", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		d.Effects = slices.DeleteFunc(d.Effects, func(e Effect) bool { return e.Kind == StopRunner && slices.Contains(f.Beside, e.Attempt) })
		return d
	}},
	{9, false, "what was wrong with a lost runner is not told", func(c Cluster, f Facts, l Limits) Decision {
		f.Trouble = Trouble{}
		return Decide(c, f, l)
	}},
	{5, true, "an unwanted install is not waited for", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == Stopping && f.Open != nil && f.Runner == Alive && d.Close == nil {
			d.Close, d.Next.WakeAt = &Closing{Number: f.Open.Number, Lease: f.Open.LeaseUntil, Outcome: Cancelled, Message: "not wanted"}, f.Now
		}
		return d
	}},
	{6, true, "a failed attempt is followed by the next at once", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) { a.Recorded = a.Recorded && a.Kind == Destroy })
		return Decide(c, f, l)
	}},
	{7, true, "an attempt that recorded nothing needs no proof", func(c Cluster, f Facts, l Limits) Decision {
		if f.Open == nil && f.Last != nil && f.Last.Number == 1 && !f.Last.Recorded && c.Desired == Absent {
			f.Last = nil
		}
		return Decide(c, f, l)
	}},
	{7, true, "an exit code is a count", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			a.Passes = []Pass{{At: a.ClosedAt, Clean: true, Identities: f.Identities}, {At: a.ClosedAt.Add(l.VerifyGap), Clean: true, Identities: f.Identities}}
			a.ToolExitedAt = a.ClosedAt
		})
		return Decide(c, f, l)
	}},
	{7, true, "one clean pass is enough", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if len(a.Passes) == 1 {
				again := a.Passes[0]
				again.At = again.At.Add(l.VerifyGap)
				a.Passes = []Pass{a.Passes[0], again}
			}
		})
		return Decide(c, f, l)
	}},
	{7, true, "two passes need no time between them", func(c Cluster, f Facts, l Limits) Decision {
		l.VerifyGap = 0
		return Decide(c, f, l)
	}},
	{7, true, "a pass counts while the destroyer runs", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) { a.ToolExitedAt = a.OpenedAt })
		return Decide(c, f, l)
	}},
	{7, true, "a pass for the newest name counts for all", func(c Cluster, f Facts, l Limits) Decision {
		if n := len(f.Identities); n > 1 {
			f.Identities = f.Identities[n-1:]
		}
		return Decide(c, f, l)
	}},
	{8, true, "a failed cluster sleeps for ever", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Status == Failed && d.Open == "" {
			d.Next.WakeAt = time.Time{}
		}
		return d
	}},
	{8, false, "a ready cluster sleeps past its end", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Status == Ready {
			d.Next.WakeAt = f.Now.Add(l.RetryMax)
		}
		return d
	}},
	{8, false, "the next in the queue does not hear that capacity came free", func(c Cluster, f Facts, l Limits) Decision {
		f.Queue.FreedAt = time.Time{}
		return Decide(c, f, l)
	}},
	{8, false, "everybody in line asks as often as the next", func(c Cluster, f Facts, l Limits) Decision {
		f.Queue.Position = min(f.Queue.Position, 1)
		return Decide(c, f, l)
	}},
	{8, false, "one that became the next in the queue sleeps on", func(c Cluster, f Facts, l Limits) Decision {
		f.Queue.Asked = min(f.Queue.Asked, 1)
		return Decide(c, f, l)
	}},
	{8, false, "the next in the queue goes on to look as often as it began", func(c Cluster, f Facts, l Limits) Decision {
		f.Queue.Since = time.Time{}
		return Decide(c, f, l)
	}},
	{8, false, "the next in the queue looks when somebody tells it to", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == AwaitingCapacity && d.Open == "" {
			d.Next.WakeAt = d.Next.Ends.DestroyAt()
		}
		return d
	}},
	{0, false, "a look for capacity that was lost spends a try", func(c Cluster, f Facts, l Limits) Decision {
		if f.Last != nil && f.Last.Outcome == Lost && f.Last.Number > seenOf(c, f.Last) {
			f.Queue = QueuePosition{}
		}
		return Decide(c, f, l)
	}},
	{9, false, "a look for capacity is shown as a beginning", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Phase == AwaitingCapacity && d.Open == Create {
			d.Next.Status, d.Next.Phase, d.Next.Position, d.Next.Why = Creating, Preflight, 0, MoveReason{Words: "a try begins"}
		}
		return d
	}},
	{9, false, "what a look for capacity does is shown as it goes", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Phase == AwaitingCapacity && f.Open != nil {
			d.Next.Progress = f.Open.Progress
		}
		return d
	}},
	{9, false, "a position in the queue is told once", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Phase == AwaitingCapacity && d.Next.Phase == AwaitingCapacity {
			d.Next.Position = c.Position
		}
		return d
	}},
	{9, false, "a move keeps the old reason", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == Verifying {
			d.Next.Why = c.Why
		}
		return d
	}},
	{10, false, "an abandoned cluster stops counting", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == Abandoned {
			d.Next.ReleasedAt = f.Now
		}
		return d
	}},
	{10, true, "a failed create gives its name back", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == CreateFailed {
			d.Next.Status, d.Next.Phase = Destroyed, Released
		}
		return d
	}},
	{11, false, "a finished run is no end", func(c Cluster, f Facts, l Limits) Decision {
		ends := c.Ends
		c.Ends.RunFinished = time.Time{}
		d := Decide(c, f, l)
		d.Next.Ends = ends
		return d
	}},
	{11, false, "a blocked cluster outlives its end", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Phase == DestroyBlocked && c.Desired == Present {
			d.Next.Desired = Present
		}
		return d
	}},
}

func altered(a *Attempt, change func(*Attempt)) *Attempt {
	if a == nil {
		return nil
	}
	changed := *a
	change(&changed)
	return &changed
}

func TestEveryMutantOfDecideIsCaught(t *testing.T) {
	guarded := map[int]bool{}
	for _, m := range mutants {
		guarded[m.rule] = true
		t.Run(m.name, func(t *testing.T) {
			seed, b := firstBreach(m.decide, false, func(b *broken) bool { return slices.Contains(b.rules, m.rule) })
			require.NotNil(t, b, "rule %d: the mutant lives", m.rule)
			t.Logf("caught by life %d: %s", seed, b.what[:min(len(b.what), 90)])
		})
	}
	for rule := 1; rule <= 14; rule++ {
		require.True(t, guarded[rule], "rule %d has no mutant", rule)
	}
}

func TestAFeltMutantIsNoticedByItsConsequencesAlone(t *testing.T) {
	for _, m := range mutants {
		if m.felt {
			t.Run(m.name, func(t *testing.T) {
				seed, b := firstBreach(m.decide, true, func(*broken) bool { return true })
				require.NotNil(t, b, "nothing shows that rule %d is broken", m.rule)
				t.Logf("felt in life %d: %s", seed, b.what[:min(len(b.what), 90)])
			})
		}
	}
}

// firstBreach lives seeded lives until one breaks a rule in the way looked for.
func firstBreach(decide decider, blind bool, sought func(*broken) bool) (uint64, *broken) {
	most := allLives(30_000) // the rarest of them shows in life 12,683
	if blind {
		most = allLives(40_000) // what one guard lets through, the next one often stops
	}
	for seed := range uint64(most) {
		w := newWorld(decide, seeded(seed))
		w.blind = blind
		if b := caught(func() { w.live(hostileSteps) }); b != nil && sought(b) {
			return seed, b
		}
	}
	return 0, nil
}
