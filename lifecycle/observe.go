package lifecycle

import (
	"cmp"
	"time"

	"github.com/ocpctl/ocpctl/internal/kinds"
)

// observeAhead is how long before something follows from idleness ocpctl looks inside the cluster for people's requests. It leaves time for
// two tries, and a look that is older says too little.
const observeAhead = 15 * time.Minute

// observeTries is how many looks may fail before a step. The step follows anyway, and its reason says so.
const observeTries = 2

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
	if !n.CountsIdle() || !kinds.Can(n.Provisioner, kinds.Look) || n.powerPhase() != "" {
		return time.Time{}
	}
	step, w := n.idleStep(), n.Work[Observe]
	at := step.Add(-observeAhead)
	switch {
	case step.IsZero() || !m.f.Now.Before(step) || !w.DoneAt.Before(at):
		return time.Time{}
	case w.RetryAt.Before(at.Add(m.l.RetryBase)): // failures count for the step that they were for
		return at
	case w.Failures >= observeTries:
		return time.Time{}
	}
	return latest(at, w.RetryAt)
}

// observeKind looks for people's requests in the cluster, right before something follows from that nobody uses it. It waits in no queue: the step
// does not wait for it either. What it saw was noted as use with its result, and a failed look says nothing about use.
func observeKind() WorkKind {
	return WorkKind{
		Kind: Observe, Job: JobObserve, Text: "look inside", Quiet: true, Unqueued: true, Single: true,
		due:   (*deciding).observeAt,
		ready: func(*deciding) bool { return true },
		begin: func(m *deciding) {
			if n := m.next(); n.Work[Observe].RetryAt.Before(n.idleStep().Add(m.l.RetryBase - observeAhead)) {
				n.ResetWork(Observe)
			}
		},
		see: func(m *deciding, a Attempt) {
			m.next().ChangeWork(Observe, func(w *Work) {
				if a.Outcome == Succeeded {
					w.DoneAt, w.Failures, w.RetryAt = a.ClosedAt, 0, time.Time{}
					return
				}
				w.Failures, w.RetryAt = w.Failures+1, a.ClosedAt.Add(m.l.RetryBase)
				if a.Outcome == Failure && !a.Retryable {
					w.Failures = max(w.Failures, observeTries)
				}
			})
		},
		failure: func(_ *deciding, a Attempt) string { return cmp.Or(a.Message, "nobody could look inside it") },
	}
}

// lacksObservation reports that the cluster is awake, and that no look inside was answered for the step that follows now.
func (m *deciding) lacksObservation() bool {
	n := m.next()
	return n.powerPhase() == "" && m.f.Now.Sub(n.Work[Observe].DoneAt) > 2*observeAhead
}

// Unobserved reports that the newest look inside the cluster failed, so that only what ocpctl itself sees is known of its use.
func (c Cluster) Unobserved() bool { return c.Work[Observe].Failures > 0 }

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
