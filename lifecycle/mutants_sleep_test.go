package lifecycle

import "time"

// sleepMutants are of a ready cluster's sleep.
var sleepMutants = []mutant{
	{4, false, "a cluster is put to sleep beside its destroyer", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if f.Open != nil && f.Open.Kind == Destroy && d.Open == "" && d.Close == nil && c.SleepMode != "" {
			d.Open, d.OpenJob = Sleep, JobSleep
		}
		return d
	}},
	{4, false, "a cluster that nobody wants is woken before it is removed", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.Power == Asleep && c.Desired == Absent && d.Open == Destroy {
			d.Open, d.OpenJob = Wake, JobWake
		}
		return d
	}},
	{4, true, "a cluster that sleeps is scaled", func(c Cluster, f Facts, l Limits) Decision {
		if c.Power == Asleep && c.WorkersWanted != nil {
			power, wanted, until := c.Power, c.SleepWanted, c.SleepUntil
			c.Power, c.SleepWanted = Awake, false
			d := Decide(c, f, l)
			d.Next.Power, d.Next.SleepWanted, d.Next.SleepUntil = power, wanted, until
			return d
		}
		return Decide(c, f, l)
	}},
	{4, false, "access changes in a cluster whose machines are stopped", func(c Cluster, f Facts, l Limits) Decision {
		mode := c.SleepMode
		if c.Power == Asleep {
			c.SleepMode = SleepWorkers
		}
		d := Decide(c, f, l)
		d.Next.SleepMode = mode
		return d
	}},
	{0, false, "a runner's success is taken for sleep", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if asleep := a.Kind == Sleep; a.Outcome == Succeeded && (asleep || a.Kind == Wake) {
				a.AsleepSeen = &asleep
			}
		})
		return Decide(c, f, l)
	}},
	{0, false, "a change of power begins without a row that says so", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Open == Sleep {
			d.Next.Power = c.Power
		}
		return d
	}},
	{0, false, "sleep that fails is tried for ever", func(c Cluster, f Facts, l Limits) Decision {
		was := c.Work[Sleep].Failures
		c.ChangeWork(Sleep, func(w *Work) { w.Failures = min(was, 1) })
		d := Decide(c, f, l)
		if d.Next.Work[Sleep].Failures == c.Work[Sleep].Failures {
			d.Next.ChangeWork(Sleep, func(w *Work) { w.Failures = was })
		}
		return d
	}},
	{0, false, "sleep is given up after one failure", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Sleep && a.Outcome != Stopped && a.Outcome != Cancelled {
				a.Outcome, a.Retryable, a.Reason = Failure, false, "Once"
			}
		})
		return Decide(c, f, l)
	}},
	{0, false, "a cluster sleeps past its time", func(c Cluster, f Facts, l Limits) Decision {
		until := c.SleepUntil
		c.SleepUntil = time.Time{}
		d := Decide(c, f, l)
		d.Next.SleepUntil = until
		return d
	}},
	{8, false, "nobody looks when its time to sleep is over", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == PhaseAsleep && f.Open == nil && d.Open == "" {
			d.Next.WakeAt = d.Next.Ends.DestroyAt()
		}
		return d
	}},
	{8, true, "waking is given up", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Open == Wake && c.Work[Wake].Failures > 0 {
			d.Open, d.OpenJob, d.Jobs, d.Effects = "", "", nil, nil
			d.Next.ChangeWork(Wake, func(w *Work) { w.RetryAt = time.Time{} })
		}
		return d
	}},
	{8, false, "waking waits as long as a teardown may", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Work[Wake].Failures > c.Work[Wake].Failures {
			d.Next.ChangeWork(Wake, func(w *Work) { w.RetryAt = f.Now.Add(2 * wakeRetryMost) })
		}
		return d
	}},
	{9, false, "a cluster that sleeps looks ready", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == PhaseAsleep {
			d.Next.Phase, d.Next.Why.Words = PhaseReady, "it can be used"
		}
		return d
	}},
	{11, false, "a cluster outlives its end asleep", func(c Cluster, f Facts, l Limits) Decision {
		if c.Power == Asleep && c.Desired == Present && !f.Now.Before(c.Ends.DestroyAt()) {
			return Decision{Next: c}
		}
		return Decide(c, f, l)
	}},
	{0, false, "a cluster that was never put to sleep is woken", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Sleep && a.Outcome == Failure {
				a.AsleepSeen = nil
			}
		})
		return Decide(c, f, l)
	}},
	{0, false, "a cluster that could not be put to sleep counts as awake unseen", func(c Cluster, f Facts, l Limits) Decision {
		f.Last = altered(f.Last, func(a *Attempt) {
			if a.Kind == Sleep && a.Outcome == Failure && a.AsleepSeen == nil {
				a.AsleepSeen = new(bool)
			}
		})
		return Decide(c, f, l)
	}},
	{9, false, "a cluster whose control plane lacks a machine looks ready", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if d.Next.Phase == Degraded {
			d.Next.Phase = PhaseReady
		}
		return d
	}},
}
