package lifecycle

import (
	"cmp"
	"time"
)

// observeAhead is how long before something follows from idleness ocpctl looks inside the cluster for people's requests. It leaves time for
// two tries, and a look that is older says too little.
const observeAhead = 15 * time.Minute

// observeTries is how many looks may fail before a step. The step follows anyway, and its reason says so.
const observeTries = 2

// notObserved is added to what follows from idleness if nobody could look inside the cluster right before.
const notObserved = "; whether people used its API is unknown, because it could not be asked"

// idleStep returns when the next thing follows from that nobody uses the cluster: its people are told, it is put to sleep, or it ends.
// Zero: nothing does.
func (c Cluster) idleStep() (step time.Time) {
	var end time.Time
	if c.Ends.IsIdle() {
		end = c.Ends.DestroyAt()
	}
	for _, at := range []time.Time{c.IdleTellAt(), c.IdleSleepAt(), end} {
		if !at.IsZero() && (step.IsZero() || at.Before(step)) {
			step = at
		}
	}
	return step
}

// observeAt returns when to look inside the cluster before the next such step. Zero: there is no need, it was done, or its tries are used up.
// What sleeps is not looked into: nobody expects its API to answer.
func (m *deciding) observeAt() time.Time {
	n := m.next()
	if !n.CountsIdle() || n.powerPhase() != "" {
		return time.Time{}
	}
	step := n.idleStep()
	at := step.Add(-observeAhead)
	switch {
	case step.IsZero() || !m.f.Now.Before(step) || !n.ObservedAt.Before(at):
		return time.Time{}
	case n.ObserveFailedAt.Before(at): // failures count for the step that they were for
		return at
	case n.ObserveFailures >= observeTries:
		return time.Time{}
	}
	return latest(at, n.ObserveFailedAt.Add(m.l.RetryBase))
}

// observe opens an attempt to look for people's requests in the cluster, right before something follows from that nobody uses it. It waits in
// no queue: the step does not wait for it either.
func (m *deciding) observe() {
	at := m.observeAt()
	if at.IsZero() || m.f.Now.Before(at) || m.d.Open != "" || m.d.Wait != nil || !m.l.Runners.MayRun(Observe, m.f.Slot) {
		return
	}
	if n := m.next(); n.ObserveFailedAt.Before(n.idleStep().Add(-observeAhead)) {
		n.ObserveFailures, n.ObserveFailedAt = 0, time.Time{}
	}
	m.open(Observe, JobObserve)
}

// settleObserve accounts for a look. What it saw was noted as use with its result. A failed one says nothing about use.
func (m *deciding) settleObserve(a Attempt) {
	n := m.next()
	if a.Outcome == Succeeded {
		n.ObservedAt, n.ObserveFailures, n.ObserveFailedAt = a.ClosedAt, 0, time.Time{}
		m.job(JobObserve, JobSucceeded, "", a.Message)
		return
	}
	n.ObserveFailures, n.ObserveFailedAt = n.ObserveFailures+1, a.ClosedAt
	if a.Outcome == Failure && !a.Retryable {
		n.ObserveFailures = max(n.ObserveFailures, observeTries)
	}
	m.job(JobObserve, JobFailed, reasonOf(a), cmp.Or(a.Message, "nobody could look inside it"))
}

// becauseIdle returns the reason for what follows now from idleness. It says so if nobody could look inside an awake cluster right before:
// that no use is known then does not mean that there was none.
func (m *deciding) becauseIdle(why string) string {
	if m.unobserved() {
		return why + notObserved
	}
	return why
}

// unobserved reports that the cluster is awake, and that no look inside was answered for the step that follows now.
func (m *deciding) unobserved() bool {
	n := m.next()
	return n.powerPhase() == "" && m.f.Now.Sub(n.ObservedAt) > 2*observeAhead
}

// Unobserved reports that the newest look inside the cluster failed, so that only what ocpctl itself sees is known of its use.
func (c Cluster) Unobserved() bool { return c.ObserveFailures > 0 }

// HourUsed returns the time that counts as the use of a cluster that people sent requests to in that hour. When in the hour is not known, so it
// is the latest that is possible.
func HourUsed(hour, now time.Time) time.Time {
	if end := hour.Add(time.Hour); end.Before(now) {
		return end
	}
	return now
}

// ToldTooEarly reports that the cluster's people were told that nobody uses it, and that it was used less than the profile's time before that, as is
// known now. Use from before it last woke cannot show that: then it counts from when it woke.
func (c Cluster) ToldTooEarly(used time.Time) bool {
	return !c.IdleTold.IsZero() && !used.Before(c.AwakeSince) && c.IdleTold.Before(used.Add(c.Idle.TellAfter))
}
