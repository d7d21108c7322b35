package lifecycle

import (
	"fmt"
	"slices"
	"time"
)

// Decide returns what should happen next to one cluster. It has no side effects.
//
// It is total and deterministic: every cluster and every set of facts has an answer, and equal input gives equal output.
// docs/lifecycle.md lists the rules it keeps; each has a property test and a mutant that the tests must catch.
func Decide(c Cluster, f Facts, l Limits) Decision {
	m := &deciding{c: c, f: f, l: l, kinds: ownKinds, d: Decision{Next: c}}
	if len(l.More) > 0 {
		m.kinds = slices.Concat(ownKinds, l.More)
	}
	if c.Phase == Released && !m.reopen() {
		m.cancelWork() // of kinds that those did not know who released it
		m.next().WakeAt = time.Time{}
		return m.d
	}
	m.watchIdle()
	m.endIfDue()
	if f.Open != nil {
		m.watch(*f.Open)
		m.quieten()
	} else {
		m.settle()
		m.quieten()
		m.chooseAlone()
	}
	m.forgetFailure()
	m.warn()
	m.watchHours()
	m.showWait()
	m.keepPlace()
	m.wake()
	return m.d
}

// deciding is a decision in progress.
type deciding struct {
	c Cluster // as it was before the decision
	f Facts
	l Limits
	d Decision

	kinds []WorkKind

	blocked bool // an attempt would be opened if no other runner of the cluster were alive
	braked  bool // a create would begin if no brake held
}

func (m *deciding) next() *Cluster { return &m.d.Next }

// move moves the cluster and stores the reason. Every move has a reason.
func (m *deciding) move(s Status, p Phase, why MoveReason) {
	n := m.next()
	n.Status, n.Phase, n.Why = s, p, why
}

// say moves the cluster for a reason of which only words are known.
func (m *deciding) say(s Status, p Phase, format string, args ...any) {
	m.move(s, p, MoveReason{Words: fmt.Sprintf(format, args...)})
}

func (m *deciding) job(t JobType, to JobStatus, code, message string) {
	m.d.Jobs = append(m.d.Jobs, JobMove{Type: t, To: to, Code: code, Message: message})
}

func (m *deciding) effect(k EffectKind, attempt int) {
	m.d.Effects = append(m.d.Effects, Effect{Kind: k, Attempt: attempt})
}

// endIfDue sets the desired state to absent once an end or the approval deadline has passed. It never sets it back.
func (m *deciding) endIfDue() {
	by, ends := m.c.ApproveBy, m.next().Ends
	switch {
	case m.c.Desired != Present:
	case !m.f.Now.Before(ends.DestroyAt()):
		why := ends.Reason()
		why.Unobserved = why.Code == ReasonIdle && m.lacksObservation()
		m.dismiss(why)
	case m.c.NeedsApproval && !by.IsZero() && !m.f.Now.Before(by):
		m.dismiss(Reason{Code: ReasonNotApproved, At: by.UTC()})
	}
}

// dismiss sets the desired state to absent on ocpctl's own initiative.
func (m *deciding) dismiss(why Reason) {
	n := m.next()
	n.Desired, n.DesiredWhy, n.Teardown = Absent, why, JobJanitorDestroy
	m.job(JobJanitorDestroy, JobPending, "", "")
}

func (m *deciding) isWanted() bool { return m.next().Desired == Present }

// due reports whether the wait after a failed attempt is over.
func (m *deciding) due() bool { return !m.f.Now.Before(m.next().RetryAt) }

// number returns the number of the next attempt: one above the newest closed one, because only one is open at a time.
func (m *deciding) number() int {
	if m.f.Last != nil {
		return m.f.Last.Number + 1
	}
	return 1
}

// open opens the next attempt.
func (m *deciding) open(k Kind, job JobType) {
	m.d.Open, m.d.OpenJob = k, job
	m.next().Progress = Progress{}
	if k == Destroy && job != JobCreate {
		m.job(JobCreate, JobFailed, "Cancelled", m.next().DesiredWhy.String()) // affects the job only if it is unfinished
	}
	m.job(job, JobRunning, "", "")
	m.effect(Launch, m.number())
}

// close ends the open attempt from the server's side, which fences its runner.
func (m *deciding) close(a Attempt, how Outcome, format string, args ...any) {
	m.d.Close = &Closing{Number: a.Number, Lease: a.LeaseUntil, Outcome: how, Message: fmt.Sprintf(format, args...)}
}

// trouble returns what is known to be wrong with the attempt's runner: what is seen now, otherwise why its start was refused.
func (m *deciding) trouble(a Attempt) Trouble {
	if m.f.Trouble.Code == "" && a.ClaimedAt.IsZero() {
		return a.Refused
	}
	return m.f.Trouble
}

// lose closes an attempt whose runner is given up, with what is known about why.
func (m *deciding) lose(a Attempt, format string, args ...any) {
	m.close(a, Lost, format, args...)
	if t := m.trouble(a); t.Code != "" {
		m.d.Close.Message += ": " + t.Message
		m.d.Close.Reason, m.d.Close.Whose, m.d.Close.Next = t.Code, t.Whose, t.Next
	}
}

// wake sets when to decide again. There is always such a time, except after release.
func (m *deciding) wake() {
	n := m.next()
	if n.Phase == Released {
		n.WakeAt = time.Time{}
		return
	}
	if m.d.Close != nil {
		n.WakeAt = m.f.Now
		return
	}
	at := m.f.Now.Add(m.l.RetryMax)
	sooner := func(t time.Time) {
		if t.Before(at) {
			at = t
		}
	}
	if m.works() {
		sooner(m.f.Now.Add(aliveLooks * m.l.LookAgain))
		sooner(m.f.Open.LeaseUntil)
	} else if m.f.Open != nil || m.d.Open != "" || m.blocked {
		sooner(m.f.Now.Add(m.l.LookAgain))
	} else if m.f.Now.Before(n.RetryAt) {
		sooner(n.RetryAt)
	}
	if m.braked && m.f.Now.Before(m.f.Brake.Until) {
		sooner(m.f.Brake.Until)
	} else if m.braked { // a breaker tries another cluster
		sooner(m.f.Now.Add(m.l.LookAgain))
	}
	times := []time.Time{n.SleepUntil, n.HoursAt, n.IdleTellAt(), n.IdleSleepAt()}
	for i := range m.kinds {
		k := &m.kinds[i]
		if retry := n.Work[k.Kind].RetryAt; m.f.Now.Before(retry) && k.isOwed(m) {
			sooner(retry)
		}
		if k.due != nil {
			times = append(times, k.due(m))
		}
	}
	if n.Desired == Present {
		sooner(n.Ends.DestroyAt())
		for _, at := range times {
			switch {
			case at.After(m.f.Now):
				sooner(at)
			case !at.IsZero(): // something is in the way, or the schedule is not known now
				sooner(m.f.Now.Add(m.l.LookAgain))
			}
		}
		if n.NeedsApproval && !n.ApproveBy.IsZero() {
			sooner(n.ApproveBy)
		}
		if warn := m.nextWarning(); n.Status == Ready && !warn.IsZero() {
			sooner(warn)
		}
	}
	n.WakeAt = at
}

// aliveLooks is how many times longer than LookAgain the next look may be away while a runner works: the dispatcher reports its end at
// once (dispatch.Process.Watch and that of Kubernetes), and the look is for a report that was lost.
const aliveLooks = 4

// works reports that the open attempt's runner was seen alive, holds its lease, and is to go on.
func (m *deciding) works() bool {
	open := m.f.Open
	if open == nil || m.d.Open != "" || m.blocked || m.f.Runner != Alive || m.trouble(*open).Code != "" || !m.f.Now.Before(open.LeaseUntil) {
		return false
	}
	return !slices.ContainsFunc(m.d.Effects, func(e Effect) bool { return e.Kind == StopRunner })
}

// backoff starts at RetryBase, doubles with each failure and is limited to RetryMax.
func (l Limits) backoff(failures int) time.Duration {
	wait := l.RetryBase
	for i := 1; i < failures && wait < l.RetryMax; i++ {
		wait *= 2
	}
	return min(wait, l.RetryMax)
}
