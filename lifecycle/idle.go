package lifecycle

import "time"

// Idle is what is done about a ready cluster that nobody uses. Its profile says so, and it is frozen at acceptance. Zero: that is not done.
type Idle struct {
	TellAfter  time.Duration // its people are told
	SleepAfter time.Duration // it is put to sleep, half an hour after they were told at the earliest
	EndAfter   time.Duration // it ends, half an hour after they were told at the earliest
}

// ByIdle is the source of sleep of a cluster that nobody uses. Use wakes it.
const ByIdle PowerBy = "idle"

// UnusedSince returns since when nobody has used the cluster, as far as ocpctl knows: its last use, or when it became ready. Zero: unknown.
func (c Cluster) UnusedSince() time.Time { return latest(c.ReadyAt, c.ActiveAt) }

// UseMatters reports that something follows from whether the cluster is used.
func (c Cluster) UseMatters() bool { return c.OffHours || c.UseExtends || c.Idle != Idle{} }

// idleSince returns since when the cluster is awake and nobody has used it. The time asleep does not count: whoever comes in the morning
// finds a cluster awake that its schedule woke.
func (c Cluster) idleSince() time.Time { return latest(c.UnusedSince(), c.AwakeSince) }

// CountsIdle reports that it matters whether somebody uses the cluster. What a person put to sleep is theirs, and nobody expects it to be used.
func (c Cluster) CountsIdle() bool {
	return c.Idle != Idle{} && c.Status == Ready && c.Desired == Present && !c.UnusedSince().IsZero() && !(c.SleepWanted && c.PowerBy == ByPerson)
}

// IdleTellAt returns when the cluster's people are to be told that nobody uses it; zero: they were told, or need not be. A cluster that is not
// awake is spoken of only if it is about to end, and one that woke lately is spoken of before it ends.
func (c Cluster) IdleTellAt() time.Time {
	if !c.CountsIdle() {
		return time.Time{}
	}
	var at time.Time
	if c.powerPhase() == "" && !c.IdleTold.After(c.idleSince()) {
		at = after(c.idleSince(), c.Idle.TellAfter)
	}
	if c.Idle.EndAfter > 0 && !c.IdleTold.After(c.UnusedSince()) {
		if last := after(c.UnusedSince(), c.Idle.EndAfter-restWarning); at.IsZero() || last.Before(at) {
			at = last
		}
	}
	return at
}

// IdleSleepAt returns when the cluster is put to sleep if nobody uses it; zero: never, or its people have to be told first. A hold, and
// whoever keeps it awake, put that off.
func (c Cluster) IdleSleepAt() time.Time {
	if !c.CountsIdle() || c.Idle.SleepAfter == 0 || c.SleepMode == "" || c.powerPhase() != "" || !c.IdleTold.After(c.idleSince()) {
		return time.Time{}
	}
	at := latest(after(c.idleSince(), c.Idle.SleepAfter), c.IdleTold.Add(restWarning), c.AwakeUntil, c.Ends.Hold)
	if c.Ends.DestroyAt().Sub(at) < leastRest {
		return time.Time{}
	}
	return at
}

// IdleSleepExpected is IdleSleepAt as if the cluster's people had been told by then when they are to be.
func (c Cluster) IdleSleepExpected() time.Time {
	if at := c.IdleTellAt(); !at.IsZero() {
		c.IdleTold = at
	}
	return c.IdleSleepAt()
}

// watchIdle tells the people of a cluster that nobody uses it, once for each time at which it fell idle, and sets the end that follows from that.
// Nothing ends before they were told.
func (m *deciding) watchIdle() {
	n := m.next()
	if n.Desired != Present {
		return
	}
	if !n.CountsIdle() {
		n.IdleTold = time.Time{} // told anew once it counts again
	}
	if at := n.IdleTellAt(); !at.IsZero() && !m.f.Now.Before(at) {
		n.IdleTold, m.d.TellIdle = m.f.Now, !m.c.IdleTold.Equal(m.f.Now)
		m.d.Unobserved = m.d.TellIdle && m.lacksObservation()
	}
	n.Ends.Idle = time.Time{}
	if n.CountsIdle() && n.Idle.EndAfter > 0 {
		n.Ends.Idle = after(n.UnusedSince(), n.Idle.EndAfter)
		if n.IdleTold.After(n.UnusedSince()) {
			n.Ends.Idle = latest(n.Ends.Idle, n.IdleTold.Add(restWarning))
		}
	}
}

// keepIdle puts a cluster to sleep that nobody uses, and wakes it when somebody does.
func (m *deciding) keepIdle() {
	n := m.next()
	if n.SleepWanted && n.PowerBy == ByIdle {
		if until := latest(after(n.idleSince(), n.Idle.SleepAfter), n.AwakeUntil); m.f.Now.Before(until) {
			m.job(JobSleep, JobFailed, "Changed", "it is to be awake: "+n.describeUse())
			n.SleepWhy = n.describeUse()
			m.wantAwake()
		}
		return
	}
	at := n.IdleSleepAt()
	if at.IsZero() || m.f.Now.Before(at) {
		return
	}
	n.SleepWanted, n.SleepUntil, n.PowerBy, n.SleepWhy = true, time.Time{}, ByIdle, Reason{Code: ReasonIdle, Unobserved: m.lacksObservation()}.String()
	n.resetPower()
	m.job(JobSleep, JobPending, "", "")
}

// latest returns the latest of the times.
func latest(times ...time.Time) (at time.Time) {
	for _, t := range times {
		if t.After(at) {
			at = t
		}
	}
	return at
}
