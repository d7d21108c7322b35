package lifecycle

// addonMutants are of what a ready cluster's add-ons are brought by.
var addonMutants = []mutant{
	{4, false, "add-ons are brought beside the destroyer", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open != nil && f.Open.Kind == Destroy && len(c.Addons) > 0 && d.Open == "" && d.Close == nil {
			d.Open, d.OpenJob = Configure, JobConfigure
		}
		return d
	}},
	{4, false, "add-ons are brought beside a scaling", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open != nil && f.Open.Kind == Scale && d.Next.Work[Configure].IsRequested() && len(c.Addons) > 0 && d.Close == nil {
			d.Open, d.OpenJob = Configure, JobConfigure
		}
		return d
	}},
	{4, false, "a cluster that nobody wants gets its add-ons first", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Work[Configure].IsRequested() && c.Desired == Absent && d.Open == Destroy && len(c.Addons) > 0 {
			d.Open, d.OpenJob = Configure, JobConfigure
		}
		return d
	}},
	{4, false, "an add-on that is missing fails its cluster", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if n := d.Next; n.Status == Ready && c.Status != Ready && n.Work[Configure].IsRequested() {
			d.Next.Status, d.Next.Phase, d.Next.Why = Failed, CreateFailed, MoveReason{Words: "an add-on is missing"}
		}
		return d
	}},
	{5, true, "an unwanted refresh is neither stopped nor waited for", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if a := f.Open; a != nil && a.Kind == Configure && d.Next.Phase == Stopping && f.Runner == Alive && d.Close == nil {
			d.Close, d.Next.WakeAt = &Closing{Number: a.Number, Lease: a.LeaseUntil, Outcome: Cancelled, Message: "not wanted"}, f.Now
			d.StopNow, d.Effects = false, nil
		}
		return d
	}},
	{3, false, "an unwanted refresh is asked to stop once", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open != nil && f.Open.Kind == Configure && c.Phase == Stopping {
			d.Effects = nil
		}
		return d
	}},
	{0, false, "add-ons are brought where there are none", func(c Cluster, f Facts, l Limits) Decision {
		was := c.Addons
		if c.Work[Configure].IsRequested() && len(was) == 0 {
			c.Addons = []string{"nothing"}
		}
		d := Decide(c, f, l)
		d.Next.Addons = was
		return d
	}},
	{0, false, "add-ons that fail are tried for ever", func(c Cluster, f Facts, l Limits) Decision {
		was := c.Work[Configure].Failures
		c.ChangeWork(Configure, func(w *Work) { w.Failures = min(was, 1) })
		d := Decide(c, f, l)
		if d.Next.Work[Configure].Failures == c.Work[Configure].Failures {
			d.Next.ChangeWork(Configure, func(w *Work) { w.Failures = was })
		}
		return d
	}},
	{0, false, "add-ons that nobody saw are believed to be there", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Configure && a.Outcome == Succeeded {
				a.AddonsSeen = new(len(c.Addons))
			}
		})
		return Decide(c, f, l)
	}},
	{0, false, "what a create did not bring is forgotten", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Create && a.Outcome == Succeeded {
				a.AddonsSeen = new(len(c.Addons))
			}
		})
		return Decide(c, f, l)
	}},
	{0, false, "a request that comes while another is met counts as met with it", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Configure {
				a.Request = c.Work[Configure].Wanted
			}
		})
		return Decide(c, f, l)
	}},
	{0, false, "add-ons are wanted of a cluster that goes", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Work[Configure].IsRequested() && d.Next.Desired == Absent {
			d.Next.ChangeWork(Configure, func(w *Work) { w.Done, w.Failures = c.Work[Configure].Done, c.Work[Configure].Failures })
		}
		return d
	}},
	{0, false, "add-ons that failed are tried again at once", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Work[Configure].Failures > c.Work[Configure].Failures {
			d.Next.ChangeWork(Configure, func(w *Work) { w.RetryAt = f.Now })
		}
		return d
	}},
}
