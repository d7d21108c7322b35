package lifecycle

import "time"

// waitMutants are of what comes before the first attempt and of what a ready cluster is asked for: approvals, turns, holds
// and other numbers of workers.
var waitMutants = []mutant{
	{0, false, "a turn is not waited for", func(c Cluster, f Facts, l Limits) Decision {
		waits := c.NeedsTurn
		c.NeedsTurn = false
		d := Decide(c, f, l)
		d.Next.NeedsTurn = waits
		return d
	}},
	{0, false, "an approval is not waited for", func(c Cluster, f Facts, l Limits) Decision {
		waits := c.NeedsApproval
		c.NeedsApproval = false
		d := Decide(c, f, l)
		d.Next.NeedsApproval = waits
		return d
	}},
	{0, false, "one that has its turn waits for an approval afterwards", func(c Cluster, f Facts, l Limits) Decision {
		if d := Decide(c, f, l); !c.NeedsApproval || !c.NeedsTurn || d.Next.Desired == Absent {
			return d
		}
		c.NeedsApproval = false
		d := Decide(c, f, l)
		d.Next.NeedsApproval = true
		return d
	}},
	{9, false, "a place among those that wait for a turn is told once", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Phase == AwaitingCapacity && c.NeedsTurn && d.Next.Phase == AwaitingCapacity {
			d.Next.Position = c.Position
		}
		return d
	}},
	{11, false, "an approval may come at any time", func(c Cluster, f Facts, l Limits) Decision {
		by := c.ApproveBy
		c.ApproveBy = time.Time{}
		d := Decide(c, f, l)
		if d.Next.ApproveBy = by; by.After(f.Now) && by.Before(d.Next.WakeAt) {
			d.Next.WakeAt = by
		}
		return d
	}},
	{8, false, "one that nobody approves sleeps past the time to", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == AwaitingApproval {
			d.Next.WakeAt = d.Next.Ends.DestroyAt()
		}
		return d
	}},
	{11, false, "a hold keeps it past its maximum", func(c Cluster, f Facts, l Limits) Decision {
		ends := c.Ends
		if c.Ends.Hold.After(c.Ends.Max) {
			c.Ends.Max = c.Ends.Hold
		}
		d := Decide(c, f, l)
		d.Next.Ends = ends
		return d
	}},
	{1, false, "a hold holds nothing", func(c Cluster, f Facts, l Limits) Decision {
		ends := c.Ends
		c.Ends.Hold = time.Time{}
		d := Decide(c, f, l)
		d.Next.Ends = ends
		return d
	}},
	{4, false, "a scaling is opened beside the destroyer", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open != nil && f.Open.Kind == Destroy && c.WorkersLeast != nil && d.Open == "" && d.Close == nil {
			d.Open, d.OpenJob, d.Next.WorkersWanted = Scale, JobScale, c.WorkersLeast
		}
		return d
	}},
	{4, false, "a cluster that nobody wants is scaled once more", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.WorkersWanted != nil && c.Desired == Absent && d.Open == Destroy && c.WorkersLeast != nil {
			d.Open, d.OpenJob, d.Next.WorkersWanted = Scale, JobScale, c.WorkersWanted
		}
		return d
	}},
	{5, true, "an unwanted scaling is neither stopped nor waited for", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if a := f.Open; a != nil && a.Kind == Scale && d.Next.Phase == Stopping && f.Runner == Alive && d.Close == nil {
			d.Close, d.Next.WakeAt = &Closing{Number: a.Number, Lease: a.LeaseUntil, Outcome: Cancelled, Message: "not wanted"}, f.Now
			d.StopNow, d.Effects = false, nil
		}
		return d
	}},
	{3, false, "an unwanted scaling is asked to stop once", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open != nil && f.Open.Kind == Scale && c.Phase == Stopping {
			d.Effects = nil
		}
		return d
	}},
	{0, false, "workers out of the bounds are asked for", func(c Cluster, f Facts, l Limits) Decision {
		least, most := c.WorkersLeast, c.WorkersMost
		c.WorkersLeast, c.WorkersMost = new(int), new(100)
		d := Decide(c, f, l)
		d.Next.WorkersLeast, d.Next.WorkersMost = least, most
		return d
	}},
	{0, false, "a scaling that fails is tried for ever", func(c Cluster, f Facts, l Limits) Decision {
		was := c.Work[Scale].Failures
		c.ChangeWork(Scale, func(w *Work) { w.Failures = min(was, 1) })
		d := Decide(c, f, l)
		if d.Next.Work[Scale].Failures == c.Work[Scale].Failures {
			d.Next.ChangeWork(Scale, func(w *Work) { w.Failures = was })
		}
		return d
	}},
	{0, false, "a scaling that ended well without a count is believed", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Scale && a.Outcome == Succeeded {
				a.WorkersSeen = new(a.WorkersWanted)
			}
		})
		return Decide(c, f, l)
	}},
	{4, false, "a scaling that failed fails its cluster", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open == nil && f.Last != nil && f.Last.Kind == Scale && f.Last.Outcome == Failure && f.Last.Number > seenOf(c, f.Last) && d.Next.Status == Ready {
			d.Next.Status, d.Next.Phase, d.Next.Why = Failed, CreateFailed, MoveReason{Words: "it could not be scaled"}
		}
		return d
	}},
	{9, false, "a cluster without its workers looks like any other", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == ScaledDown {
			d.Next.Phase = PhaseReady
		}
		return d
	}},
}
