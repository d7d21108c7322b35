package lifecycle

import (
	"fmt"
	"time"
)

// accessRetryMost is the longest wait between two tries to take access away.
const accessRetryMost = 15 * time.Minute

// AccessWork is how many accesses to a cluster differ from what its rows say.
type AccessWork struct {
	Give int // asked for and not made yet, and not given up
	Take int // revoked, and perhaps still valid in the cluster
}

// accessKind brings the cluster's service accounts into agreement with its rows. What was asked for is given up after a few tries; what has to
// be taken away never is. The rows show that nothing is owed any more, not a runner's word.
func accessKind() WorkKind {
	return WorkKind{
		Kind: Access, Job: JobAccess, Text: "change of access", Changed: "access was requested or revoked meanwhile", Quiet: true, Tries: workTries, RetryMax: accessRetryMost,
		prepare: (*deciding).accessMet,
		owed:    (*deciding).accessOwed,
		ready: func(m *deciding) bool { // what is revoked waits for nothing but the cluster's API
			n := m.next()
			return !n.OutOfReach() && (m.f.Access.Take > 0 || !n.Work[Prepare].IsRequested())
		},
		isMet:   func(*deciding, Attempt) bool { return false },
		failure: (*deciding).undone,
	}
}

// accessOwed reports that something has to be done in the cluster. A request that was given up is not owed.
func (m *deciding) accessOwed() bool {
	return m.f.Access.Take > 0 || m.f.Access.Give > 0 && m.next().Work[Access].IsRequested()
}

// accessMet completes the requests once nothing is owed, whoever did it.
func (m *deciding) accessMet() {
	if w := m.next().Work[Access]; !m.accessOwed() && (w.IsRequested() || w.Failures > 0) {
		m.job(JobAccess, JobSucceeded, "", "")
		m.forget(m.kind(Access))
	}
}

// oweAccess schedules another try for the access that the create did not give.
func (m *deciding) oweAccess(a Attempt) {
	if m.accessOwed() {
		m.owe(Access, "AccessMissing", m.undone(a))
	}
}

// undone says why not everything was done.
func (m *deciding) undone(a Attempt) string {
	if a.Outcome != Succeeded && a.Message != "" {
		return a.Message
	}
	return fmt.Sprintf("%d accesses were not made and %d not revoked", m.f.Access.Give, m.f.Access.Take)
}
