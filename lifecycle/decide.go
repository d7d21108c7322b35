package lifecycle

import (
	"fmt"
	"time"
)

// Decide says what should happen next to one cluster. It does nothing itself.
//
// It is total: every cluster and every set of facts has an answer, and the answer to the same question is the same.
// The rules it keeps stand in docs/lifecycle.md; each has a property test and a mutant that must be caught.
func Decide(c Cluster, f Facts, l Limits) Decision {
	m := &mind{c: c, f: f, l: l, d: Decision{Next: c}}
	if c.Phase == Released {
		m.next().WakeAt = time.Time{}
		return m.d
	}
	m.turnWish()
	if f.Open != nil {
		m.watch(*f.Open)
		m.quieten()
	} else {
		m.settle()
		m.quieten()
		m.choose()
	}
	m.forgetFailure()
	m.keepPlace()
	m.wake()
	return m.d
}

// mind is one decision in the making.
type mind struct {
	c Cluster // as it was
	f Facts
	l Limits
	d Decision
}

func (m *mind) next() *Cluster { return &m.d.Next }

// say moves the cluster and gives the reason. A move without a reason does not exist.
func (m *mind) say(s Status, p Phase, format string, args ...any) {
	n := m.next()
	n.Status, n.Phase, n.Why = s, p, fmt.Sprintf(format, args...)
}

func (m *mind) job(t JobType, to JobStatus, code, message string) {
	m.d.Jobs = append(m.d.Jobs, JobMove{Type: t, To: to, Code: code, Message: message})
}

func (m *mind) effect(k EffectKind, attempt int) {
	m.d.Effects = append(m.d.Effects, Effect{Kind: k, Attempt: attempt})
}

// turnWish makes the wish absent once an end has passed, or the time to approve it. It never turns back.
func (m *mind) turnWish() {
	by := m.c.ApproveBy
	switch {
	case m.c.Wish != Present:
	case !m.f.Now.Before(m.c.Ends.DestroyAt()):
		m.dismiss(m.c.Ends.Reason())
	case m.c.NeedsApproval && !by.IsZero() && !m.f.Now.Before(by):
		m.dismiss("nobody approved it by " + by.UTC().Format("15:04 MST on 2 January"))
	}
}

// dismiss turns the wish on the control plane's own account.
func (m *mind) dismiss(why string) {
	n := m.next()
	n.Wish, n.WishWhy, n.Teardown = Absent, why, JobJanitorDestroy
	m.job(JobJanitorDestroy, JobPending, "", "")
}

func (m *mind) wanted() bool { return m.next().Wish == Present }

// due reports whether the wait after a failed attempt is over.
func (m *mind) due() bool { return !m.f.Now.Before(m.next().RetryAt) }

// number is the next attempt's: one above the newest ever closed, for one is open at a time.
func (m *mind) number() int {
	if m.f.Last != nil {
		return m.f.Last.Number + 1
	}
	return 1
}

// open opens the next attempt.
func (m *mind) open(k Kind, job JobType) {
	m.d.Open, m.d.OpenJob = k, job
	m.next().Progress = Progress{}
	if k == Destroy && job != JobCreate {
		m.job(JobCreate, JobFailed, "Cancelled", m.next().WishWhy) // only where it is still unfinished
	}
	m.job(job, JobRunning, "", "")
	m.effect(Launch, m.number())
}

// close ends the open attempt from our side, which fences its runner.
func (m *mind) close(a Attempt, how Outcome, format string, args ...any) {
	m.d.Close = &Closing{Number: a.Number, Lease: a.LeaseUntil, Outcome: how, Message: fmt.Sprintf(format, args...)}
}

// wake sets when to look again: always some time, unless released.
func (m *mind) wake() {
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
	if m.f.Open != nil || m.d.Open != "" {
		sooner(m.f.Now.Add(m.l.LookAgain))
	} else if m.f.Now.Before(n.RetryAt) {
		sooner(n.RetryAt)
	}
	if n.Wish == Present {
		sooner(n.Ends.DestroyAt())
		if n.NeedsApproval && !n.ApproveBy.IsZero() {
			sooner(n.ApproveBy)
		}
		if warn := n.Ends.DestroyAt().Add(-m.l.WarnBefore); n.Status == Ready && warn.After(m.f.Now) {
			sooner(warn)
		}
	}
	n.WakeAt = at
}

// backoff doubles from RetryBase and ends at RetryMax.
func (l Limits) backoff(failures int) time.Duration {
	wait := l.RetryBase
	for i := 1; i < failures && wait < l.RetryMax; i++ {
		wait *= 2
	}
	return min(wait, l.RetryMax)
}
