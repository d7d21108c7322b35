package lifecycle

import (
	"fmt"
	"time"
)

// accessTries is how many tries in a row to give somebody access may fail before ocpctl gives up. Taking access away is never given up.
const accessTries = 3

// accessRetryMost is the longest wait between two tries to take access away.
const accessRetryMost = 15 * time.Minute

// AccessWork is how many accesses to a cluster differ from what its rows say.
type AccessWork struct {
	Give int // asked for and not made yet, and not given up
	Take int // revoked, and perhaps still valid in the cluster
}

// access opens an attempt to bring the cluster's service accounts into agreement with its rows. The cluster stays READY meanwhile, and
// shows nothing of it. Requests are numbered, and an attempt does all that is owed: one more is enough for all that come while one runs.
func (m *deciding) access() {
	m.accessMet()
	if n := m.next(); !m.accessOwed() || n.OutOfReach() || m.d.Open != "" || m.d.Wait != nil || m.f.Now.Before(n.AccessRetryAt) {
		return
	}
	if m.mayRun(Access) {
		m.open(Access, JobAccess)
	}
}

// accessOwed reports that something has to be done in the cluster. A request that was given up is not owed.
func (m *deciding) accessOwed() bool { return m.toGive() > 0 || m.f.Access.Take > 0 }

func (m *deciding) toGive() int {
	if n := m.next(); n.AccessWanted == n.AccessDone {
		return 0
	}
	return m.f.Access.Give
}

// accessMet completes the requests once nothing is owed, whoever did it. The rows show it, not a runner's word.
func (m *deciding) accessMet() {
	if n := m.next(); !m.accessOwed() && (n.AccessWanted > n.AccessDone || n.AccessFailures > 0) {
		m.job(JobAccess, JobSucceeded, "", "")
		n.forgetAccess()
	}
}

// settleAccess accounts for an attempt at the access. It recorded no names, so a lost attempt leaves nothing to remove: the next one
// finds every account that it made. A failure for an older request says nothing about the newest one.
func (m *deciding) settleAccess(a Attempt) {
	n := m.next()
	ours := a.stopped()
	switch {
	case !m.wanted() || !m.accessOwed():
	case n.AccessWanted > a.AccessWanted:
		n.AccessFailures, n.AccessRetryAt = 0, time.Time{}
		m.job(JobAccess, JobRetrying, "Changed", "access was requested or revoked meanwhile")
	case ours:
		n.AccessRetryAt = m.f.Now.Add(m.l.RetryBase)
		m.job(JobAccess, JobRetrying, reasonOf(a), a.Message)
	default:
		m.accessFailed(a)
	}
}

// accessFailed counts a failed try. What was asked for is given up after a few; what has to be taken away never is.
func (m *deciding) accessFailed(a Attempt) {
	n, why := m.next(), m.undone(a)
	n.AccessFailures++
	over := n.AccessFailures >= accessTries || a.Outcome == Failure && !a.Retryable
	if over {
		n.AccessDone = n.AccessWanted
	}
	if !m.accessOwed() {
		m.job(JobAccess, JobFailed, reasonOf(a), why)
		n.forgetAccess()
		return
	}
	n.AccessRetryAt = m.f.Now.Add(min(m.l.backoff(n.AccessFailures), accessRetryMost))
	m.job(JobAccess, JobRetrying, reasonOf(a), why)
}

// oweAccess schedules another try for the access that the create did not give.
func (m *deciding) oweAccess(a Attempt) {
	if !m.accessOwed() {
		return
	}
	n := m.next()
	n.AccessFailures, n.AccessRetryAt = 1, m.f.Now.Add(m.l.backoff(1))
	m.job(JobAccess, JobRetrying, "AccessMissing", m.undone(a))
}

// cancelAccess cancels the requests when the cluster is no longer wanted: its accounts go with it.
func (m *deciding) cancelAccess() {
	n := m.next()
	if n.AccessWanted > n.AccessDone || n.AccessFailures > 0 {
		m.job(JobAccess, JobFailed, "Cancelled", n.DesiredWhy)
		n.forgetAccess()
	}
}

func (c *Cluster) forgetAccess() {
	c.AccessDone, c.AccessFailures, c.AccessRetryAt = c.AccessWanted, 0, time.Time{}
}

// undone says why not everything was done.
func (m *deciding) undone(a Attempt) string {
	if a.Outcome != Succeeded && a.Message != "" {
		return a.Message
	}
	return fmt.Sprintf("%d accesses were not made and %d not revoked", m.f.Access.Give, m.f.Access.Take)
}
