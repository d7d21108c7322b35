package lifecycle

import (
	"fmt"
	"slices"
)

// runnersFree counts afresh, by nothing that Decide uses, whether every cap leaves a runner of the kind.
func runnersFree(k Kind, s Slot) bool {
	if k == Destroy || k == Access {
		return s.Everywhere.All < 4 && s.InRegion.All < 3
	}
	return s.Everywhere.All < 4 && s.InRegion.All < 3 && s.Everywhere.All-s.Everywhere.Urgent < 3 && s.InRegion.All-s.InRegion.Urgent < 2
}

// othersFirst counts the others in the queue that come before a newcomer of the kind.
func othersFirst(k Kind, s Slot) int {
	n := s.Waiting[Destroy]
	if k != Destroy {
		n += s.Waiting[Access]
	}
	if k != Destroy && k != Access {
		n += s.Waiting[Scale] + s.Waiting[Configure] + s.Waiting[Sleep] + s.Waiting[Wake] + s.Waiting[Prepare]
	}
	if k == Create || k == Tag || k == Inform {
		n += s.Waiting[Create]
	}
	return n
}

func (w *world) freeFor(k Kind) bool {
	if !runnersFree(k, w.slot) {
		return false
	}
	if w.slot.Kind == k {
		return w.slot.Next || w.fair
	}
	return othersFirst(k, w.slot) == 0
}

// takeRunners: runners of other clusters start and end, and others wait for one.
func (w *world) takeRunners() {
	all := 4 - w.pick(5)
	w.slot.Everywhere = RunnerUse{All: all, Urgent: w.pick(all + 1)}
	here := min(w.pick(4), all)
	w.slot.InRegion = RunnerUse{All: here, Urgent: min(w.pick(here+1), w.slot.Everywhere.Urgent)}
	w.slot.Waiting = map[Kind]int{Create: w.pick(3)}
	if w.chance(4) {
		w.slot.Waiting[[]Kind{Destroy, Scale, Configure, Access}[w.pick(4)]] = 1 + w.pick(2)
	}
	w.slot.Next = w.slot.Next && w.chance(2) // somebody comes before it now
}

// assignRunners is store.AssignRunners.
func (w *world) assignRunners() {
	if w.slot.Kind == "" {
		return
	}
	w.slot.Next = runnersFree(w.slot.Kind, w.slot) && (w.fair || othersFirst(w.slot.Kind, w.slot) == 0 || w.chance(3))
	w.slot.Position, w.slot.For = 1+othersFirst(w.slot.Kind, w.slot), "at most 4 run at once in this installation"
	w.reconcileAsked = true
}

// queueForRunner is what store.Apply makes of a decision that waits for a runner, or waits no more.
func (w *world) queueForRunner(before Cluster, d Decision) {
	switch {
	case d.Wait != nil && d.Wait.Kind != w.slot.Kind:
		w.slot.Kind, w.slot.Next, w.slot.Position, w.slot.For = d.Wait.Kind, false, d.Wait.Position, d.Wait.For
	case d.Wait == nil && w.slot.Kind != "":
		if before.Position == 0 {
			w.breach("one that waits for a runner has no place, so nothing takes it out of the queue", 0)
		}
		w.slot.Kind, w.slot.Next, w.slot.Position, w.slot.For = "", false, 0, ""
	}
}

// No cap is passed, and nobody who waits is passed by a newcomer.
func capsHold(_ *world, _ Cluster, f Facts, d Decision) string {
	switch {
	case d.Open == "":
		return ""
	case d.Wait != nil:
		return "an attempt is opened and waits for a runner"
	case !runnersFree(d.Open, f.Slot):
		return "an attempt is opened and a cap is full"
	case f.Slot.Kind == d.Open && !f.Slot.Next:
		return "an attempt is opened before its turn for a runner"
	case f.Slot.Kind != d.Open && othersFirst(d.Open, f.Slot) > 0:
		return "an attempt is opened before those that wait for a runner"
	}
	return ""
}

// Whoever waits does so for a reason: a teardown never waits behind a create.
func freeRunnersAreUsed(_ *world, _ Cluster, f Facts, d Decision) string {
	switch {
	case d.Wait == nil || !runnersFree(d.Wait.Kind, f.Slot):
		return ""
	case f.Slot.Kind == d.Wait.Kind && f.Slot.Next:
		return "its turn for a runner came and it waits"
	case f.Slot.Kind != d.Wait.Kind && othersFirst(d.Wait.Kind, f.Slot) == 0:
		return fmt.Sprintf("a %s waits for a runner though one is free and nobody comes before it", d.Wait.Kind)
	}
	return ""
}

// Rule 9 for runners: who waits for one says so, with the position; who does not, does not.
func runnerWaitIsShown(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	says := n.Why.Runner != ""
	capacity := n.Phase == AwaitingCapacity && f.Last != nil && f.Last.Kind == Create && !says
	switch {
	case d.Wait == nil && says:
		return "it says that it waits for a runner, and does not"
	case d.Wait == nil:
		return ""
	case n.Position <= 0:
		return "it waits for a runner without a position"
	case !says && !(capacity && (f.Last.Outcome == Waiting || f.Queue.Position > 0)):
		return "it waits for a runner and does not say so"
	case n.Tries > c.Tries || len(d.Effects) > 0 || slices.ContainsFunc(d.Jobs, func(j JobMove) bool { return j.To == JobRunning }):
		return "something begins without a runner"
	}
	return ""
}

// runnerMutants are of the caps on runners.
var runnerMutants = []mutant{
	{0, false, "the caps on runners are not read", func(c Cluster, f Facts, l Limits) Decision {
		l.Runners = RunnerCaps{}
		return Decide(c, f, l)
	}},
	{0, false, "the cap of a region is not read", func(c Cluster, f Facts, l Limits) Decision {
		l.Runners.Region = 0
		return Decide(c, f, l)
	}},
	{0, false, "a create takes a runner that is reserved for teardowns", func(c Cluster, f Facts, l Limits) Decision {
		f.Slot.Everywhere.Urgent, f.Slot.InRegion.Urgent = f.Slot.Everywhere.All, f.Slot.InRegion.All
		return Decide(c, f, l)
	}},
	{0, false, "a teardown waits behind a create", func(c Cluster, f Facts, l Limits) Decision {
		f.Slot.Waiting = map[Kind]int{Destroy: f.Slot.Waiting[Destroy] + f.Slot.Waiting[Create]}
		return Decide(c, f, l)
	}},
	{0, false, "a newcomer passes those that wait for a runner", func(c Cluster, f Facts, l Limits) Decision {
		f.Slot.Waiting = nil
		return Decide(c, f, l)
	}},
	{0, false, "one that waits for a runner takes any that is free", func(c Cluster, f Facts, l Limits) Decision {
		f.Slot.Next = true
		return Decide(c, f, l)
	}},
	{0, false, "one whose turn for a runner came sleeps on", func(c Cluster, f Facts, l Limits) Decision {
		f.Slot.Next = false
		return Decide(c, f, l)
	}},
	{9, false, "a wait for a runner is not shown", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Wait != nil {
			d.Next.Why.Runner = ""
		}
		return d
	}},
	{9, false, "a wait for a runner is shown after it is over", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Wait == nil && c.Why.Runner != "" {
			d.Next.Why = c.Why
		}
		return d
	}},
}
