package lifecycle

// accessMutants are of who has access to a ready cluster.
var accessMutants = []mutant{
	{4, false, "access changes beside the destroyer", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open != nil && f.Open.Kind == Destroy && f.Access.Take > 0 && d.Open == "" && d.Close == nil {
			d.Open, d.OpenJob = Access, JobAccess
		}
		return d
	}},
	{4, false, "access is revoked in a cluster that nobody wants before it is removed", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Status == Ready && c.Desired == Absent && d.Open == Destroy && f.Access.Take > 0 {
			d.Open, d.OpenJob = Access, JobAccess
		}
		return d
	}},
	{4, false, "a cluster that did not give its access has failed", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if n := d.Next; n.Status == Ready && c.Status != Ready && n.Work[Access].Failures > 0 {
			d.Next.Status, d.Next.Phase, d.Next.Why = Failed, CreateFailed, MoveReason{Words: "it gave no access"}
		}
		return d
	}},
	{0, false, "a runner starts though nothing is owed", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Status == Ready && d.Next.Status == Ready && f.Open == nil && d.Open == "" && f.Access == (AccessWork{}) && c.Work[Access].Wanted > 0 && len(f.Beside) == 0 && d.Wait == nil {
			d.Open, d.OpenJob = Access, JobAccess
		}
		return d
	}},
	{0, false, "a runner's word is taken for what the rows show", func(c Cluster, f Facts, l Limits) Decision {
		if f.Open == nil && f.Last != nil && f.Last.Kind == Access && f.Last.Outcome == Succeeded && f.Last.Number > seenOf(c, f.Last) {
			d := Decide(c, f, l)
			d.Jobs = []JobMove{{Type: JobAccess, To: JobSucceeded}}
			d.Next.ChangeWork(Access, func(w *Work) { *w = Work{Wanted: w.Wanted, Done: w.Wanted, Seen: w.Seen} })
			return d
		}
		return Decide(c, f, l)
	}},
	{0, false, "access that fails is tried for ever", func(c Cluster, f Facts, l Limits) Decision {
		was := c.Work[Access].Failures
		c.ChangeWork(Access, func(w *Work) { w.Failures = min(was, 1) })
		d := Decide(c, f, l)
		if d.Next.Work[Access].Failures == c.Work[Access].Failures {
			d.Next.ChangeWork(Access, func(w *Work) { w.Failures = was })
		}
		return d
	}},
	{0, false, "access is given up after one failure", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Access && a.Outcome != Stopped && a.Outcome != Cancelled {
				a.Outcome, a.Retryable, a.Reason = Failure, false, "Once"
			}
		})
		return Decide(c, f, l)
	}},
	{0, false, "a request that comes while an older one fails is given up with it", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Access {
				a.Request = c.Work[Access].Wanted
			}
		})
		return Decide(c, f, l)
	}},
	{0, false, "a change of access that failed is tried again at once", func(c Cluster, f Facts, l Limits) Decision {
		c.ChangeWork(Access, func(w *Work) { w.RetryAt = epoch })
		d := Decide(c, f, l)
		if d.Next.Work[Access].RetryAt.Equal(epoch) {
			d.Next.ChangeWork(Access, func(w *Work) { w.RetryAt = f.Now.Add(l.RetryMax) })
		}
		return d
	}},
	{0, false, "access is wanted to a cluster that goes", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Desired == Absent {
			d.Next.ChangeWork(Access, func(w *Work) { w.Done, w.Failures = c.Work[Access].Done, c.Work[Access].Failures })
		}
		return d
	}},
	{8, true, "revoking is given up", func(c Cluster, f Facts, l Limits) Decision {
		if c.Work[Access].Failures > 0 || f.Last != nil && f.Last.Kind == Access && f.Last.Outcome != Succeeded {
			f.Access.Take = 0
		}
		return Decide(c, f, l)
	}},
	{8, false, "revoking waits as long as a teardown may", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Work[Access].RetryAt.After(f.Now) && d.Next.Work[Access].Failures > c.Work[Access].Failures {
			d.Next.ChangeWork(Access, func(w *Work) { w.RetryAt = f.Now.Add(2 * accessRetryMost) })
		}
		return d
	}},
	{9, false, "a change of access is shown as it goes", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open != nil && f.Open.Kind == Access && d.Next.Desired == Present {
			d.Next.Progress = f.Open.Progress
		}
		return d
	}},
	{9, false, "every kubeconfig edits the comment", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Open == Access {
			d.Next.Why.Words = "somebody gets access"
		}
		return d
	}},
}
