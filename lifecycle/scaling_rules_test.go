package lifecycle

import (
	"fmt"
	"strings"
)

// Nothing begins before a person approved it, where one has to, and not before its turn.
func nothingBeginsBeforeItsTurn(_ *world, c Cluster, f Facts, d Decision) string {
	switch {
	case d.Open == Create && c.NeedsApproval:
		return "a create begins before it was approved"
	case d.Open == Create && c.NeedsTurn:
		return "a create begins before its turn"
	case d.Next.Phase == AwaitingCapacity && c.NeedsTurn && strings.ContainsAny(strings.ReplaceAll(d.Next.Why.String(), f.Turn.For, ""), "0123456789"):
		return "the reason of one that waits for its turn ticks"
	case c.NeedsApproval && d.Next.Phase == AwaitingCapacity && c.Phase != AwaitingCapacity:
		return "one that nobody approved yet waits for its turn"
	}
	return ""
}

// Rule 4 of scaling: only a ready cluster that is wanted is scaled, beside nothing else, and it stays ready meanwhile.
func scalingIsOfReady(_ *world, c Cluster, f Facts, d Decision) string {
	scaling := d.Open == Scale || f.Open != nil && f.Open.Kind == Scale
	switch {
	case d.Open == Scale && (c.Status != Ready && d.Next.Status != Ready || d.Next.Desired != Present || f.Open != nil):
		return "a cluster is scaled that is not ready, or not wanted"
	case c.Status == Ready && d.Next.Desired == Present && d.Next.Status != Ready:
		return "a ready cluster that is wanted is ready no more"
	case scaling && d.Next.Desired == Present && d.Next.Status != Ready:
		return "a cluster that is scaled is not ready"
	}
	return ""
}

// A scale attempt asks for what is wanted, and that is within the bounds.
func scalingAsksWithinBounds(_ *world, _ Cluster, _ Facts, d Decision) string {
	n := d.Next
	if d.Open != Scale {
		return ""
	}
	switch {
	case n.WorkersWanted == nil || d.OpenJob != JobScale:
		return "a cluster is scaled that nobody asked to scale"
	case n.WorkersLeast == nil || n.WorkersMost == nil || *n.WorkersWanted < *n.WorkersLeast || *n.WorkersWanted > *n.WorkersMost:
		return "a cluster is scaled out of its bounds"
	}
	return ""
}

// Scaling ends: after three failures or when it is reached nothing is wanted any more, and nobody wants workers of a cluster
// that goes. What is forgotten is told in its job.
func scalingEnds(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	reached := f.Last != nil && f.Last.Outcome == Succeeded && f.Last.WorkersSeen != nil && *f.Last.WorkersSeen == f.Last.WorkersWanted
	got, done := false, false
	for _, j := range d.Jobs {
		done = done || j.Type == JobScale && j.To == JobSucceeded
		got = got || done || j.Type == JobScale && j.To == JobFailed
	}
	switch a := f.Last; {
	case done && !reached:
		return "a scaling is told to be done and nobody counted its workers"
	case n.Work[Scale].Failures >= 3 || n.Work[Scale].Failures > 0 && n.WorkersWanted == nil:
		return "a scaling that fails is tried for ever"
	case n.WorkersWanted != nil && (n.Phase == Restoring || n.Phase == Released):
		return "workers are wanted of a cluster that goes"
	case (c.WorkersWanted != nil) != (n.WorkersWanted != nil) && !got:
		return "a scaling was forgotten and its job goes on"
	case f.Open != nil || a == nil || a.Kind != Scale || a.Number <= seenOf(c, a) || c.WorkersWanted == nil || n.Desired == Absent:
	case a.WorkersWanted != *c.WorkersWanted:
	case reached:
		if n.WorkersWanted != nil || *n.Workers != a.WorkersWanted {
			return "a scaling that reached its number goes on"
		}
	case n.WorkersWanted != nil && d.Open == "" && !n.Work[Scale].RetryAt.After(f.Now):
		return "a scaling that failed is tried again without a pause"
	case a.Outcome != Stopped && a.Outcome != Cancelled && n.WorkersWanted != nil && n.Work[Scale].Failures != c.Work[Scale].Failures+1:
		return "a scaling that failed counts for nothing"
	}
	return ""
}

// Rule 9 of workers: a ready cluster with fewer of them than its profile gives says so, unless it says that its end is near.
func workersAreReported(_ *world, _ Cluster, _ Facts, d Decision) string {
	n := d.Next
	there := n.WorkersBase
	if n.Workers != nil {
		there = n.Workers
	}
	fewer := n.WorkersBase != nil && *there < *n.WorkersBase
	if n.Desired == Present && (n.Phase == PhaseReady && fewer || n.Phase == ScaledDown && !fewer) {
		return fmt.Sprintf("it has %d of %d workers and shows %s", *there, *n.WorkersBase, n.Phase)
	}
	return ""
}
