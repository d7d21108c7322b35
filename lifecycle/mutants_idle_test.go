package lifecycle

import "time"

// idleMutants are of clusters that nobody uses.
var idleMutants = []mutant{
	{0, false, "a cluster falls asleep although somebody uses it", func(c Cluster, f Facts, l Limits) Decision {
		return forgettingUse(c, f, l)
	}},
	{11, false, "a cluster ends although somebody uses it", func(c Cluster, f Facts, l Limits) Decision {
		return forgettingUse(c, f, l)
	}},
	{11, false, "every cluster that nobody uses ends", func(c Cluster, f Facts, l Limits) Decision {
		was := c.Idle
		if c.Idle != (Idle{}) && c.Idle.EndAfter == 0 {
			c.Idle.EndAfter = 3 * time.Hour
		}
		d := Decide(c, f, l)
		d.Next.Idle = was
		return d
	}},
	{12, false, "nobody is told that a cluster is idle", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		d.TellIdle = false
		return d
	}},
	{12, false, "people are told again and again that a cluster is idle", func(c Cluster, f Facts, l Limits) Decision {
		c.IdleTold = time.Time{}
		return Decide(c, f, l)
	}},
	{0, false, "an idle cluster falls asleep although somebody holds it", func(c Cluster, f Facts, l Limits) Decision {
		was := c.Ends.Hold
		c.Ends.Hold = time.Time{}
		d := Decide(c, f, l)
		d.Next.Ends.Hold = was
		return d
	}},
	{0, false, "use does not wake an idle cluster", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.SleepWanted && c.PowerBy == ByIdle && d.Next.Desired == Present {
			d.Next.SleepWanted, d.Next.PowerBy, d.Next.Phase = true, ByIdle, c.Phase
		}
		return d
	}},
	{2, false, "a cluster of which no use is known counts as never used", func(c Cluster, f Facts, l Limits) Decision {
		was := c.ReadyAt
		if c.ActiveAt.IsZero() && !c.ReadyAt.IsZero() && f.Now.After(c.ReadyAt.Add(time.Minute)) {
			c.ReadyAt = epoch.Add(-24 * time.Hour)
		}
		d := Decide(c, f, l)
		if !was.IsZero() {
			d.Next.ReadyAt = was
		}
		return d
	}},
	{8, false, "nobody looks at an idle cluster", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if n := &d.Next; n.WakeAt.Equal(n.idleNotice()) || n.WakeAt.Equal(n.IdleSleepAt()) {
			n.WakeAt = n.Ends.DestroyAt()
		}
		return d
	}},
}

// forgettingUse decides as if nobody had used the cluster since it became ready.
func forgettingUse(c Cluster, f Facts, l Limits) Decision {
	was := c.ActiveAt
	c.ActiveAt = time.Time{}
	d := Decide(c, f, l)
	if d.Next.ActiveAt.IsZero() {
		d.Next.ActiveAt = was
	}
	return d
}
