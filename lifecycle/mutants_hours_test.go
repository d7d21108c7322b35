package lifecycle

import "time"

// hoursMutants are of schedules.
var hoursMutants = []mutant{
	{0, false, "a schedule puts everybody's clusters to sleep", func(c Cluster, f Facts, l Limits) Decision {
		was := c.OffHours
		c.OffHours = true
		d := Decide(c, f, l)
		d.Next.OffHours = was
		return d
	}},
	{0, false, "a cluster is put to sleep while people work", func(c Cluster, f Facts, l Limits) Decision {
		f.Hours = alteredHours(f, func(h *Hours) { h.Open, h.Closes = false, time.Time{} })
		return Decide(c, f, l)
	}},
	{0, false, "use does not keep a cluster awake", func(c Cluster, f Facts, l Limits) Decision {
		was := c.ActiveAt
		c.ActiveAt = time.Time{}
		d := Decide(c, f, l)
		if d.Next.ActiveAt.IsZero() {
			d.Next.ActiveAt = was
		}
		return d
	}},
	{0, false, "a person who keeps a cluster awake is not heard", func(c Cluster, f Facts, l Limits) Decision {
		was := c.AwakeUntil
		c.AwakeUntil = time.Time{}
		d := Decide(c, f, l)
		if d.Next.AwakeUntil.IsZero() {
			d.Next.AwakeUntil = was
		}
		return d
	}},
	{0, false, "a schedule wakes what a person put to sleep", func(c Cluster, f Facts, l Limits) Decision {
		if c.SleepWanted && c.OffHours {
			c.PowerBy = ByHours
		}
		return Decide(c, f, l)
	}},
	{0, false, "a cluster is woken only when working hours begin", func(c Cluster, f Facts, l Limits) Decision {
		f.Hours = alteredHours(f, func(h *Hours) { h.WakeAhead = 0 })
		return Decide(c, f, l)
	}},
	{0, false, "a schedule that is taken away leaves its clusters asleep", func(c Cluster, f Facts, l Limits) Decision {
		if f.Hours != nil && !f.Hours.Scheduled {
			f.Hours = nil
		}
		return Decide(c, f, l)
	}},
	{0, false, "a schedule that was changed wakes a cluster for a moment", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if c.SleepWanted && !d.Next.SleepWanted && f.Hours != nil && f.Hours.Open {
			d.Next.AwakeUntil = c.AwakeUntil
		}
		return d
	}},
	{2, false, "a schedule that nobody knows counts as none", func(c Cluster, f Facts, l Limits) Decision {
		if f.Hours == nil {
			f.Hours = &Hours{}
		}
		return Decide(c, f, l)
	}},
	{0, false, "a cluster that does not fall asleep is put to sleep all night", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		d.Next.AwakeUntil = c.AwakeUntil
		return d
	}},
	{8, false, "nobody looks when working hours end", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		if n := &d.Next; n.WakeAt.Equal(n.HoursAt) {
			n.WakeAt = n.Ends.DestroyAt()
		}
		return d
	}},
	{0, false, "nobody is told when a cluster falls asleep next", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		d.Next.RestAt = c.RestAt
		return d
	}},
	{12, false, "nobody is warned before a cluster falls asleep", func(c Cluster, f Facts, l Limits) Decision {
		d := Decide(c, f, l)
		d.WarnRest, d.Next.RestWarned = false, c.RestWarned
		return d
	}},
	{12, false, "people are warned again and again", func(c Cluster, f Facts, l Limits) Decision {
		c.RestWarned = time.Time{}
		return Decide(c, f, l)
	}},
}

// alteredHours returns a copy of the schedule, changed; nil: there is none.
func alteredHours(f Facts, change func(*Hours)) *Hours {
	if f.Hours == nil || !f.Hours.Scheduled {
		return f.Hours
	}
	h := *f.Hours
	change(&h)
	return &h
}
