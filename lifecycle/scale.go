package lifecycle

import (
	"fmt"
	"time"
)

// scaleTries is how many scale attempts in a row may fail before the requested number of workers is given up.
const scaleTries = 3

// scale opens an attempt to reach the requested number of workers. The cluster stays READY meanwhile. The request is cleared once it
// is met, given up or out of bounds, so that nothing is tried for ever.
func (m *deciding) scale() {
	n := m.next()
	if n.WorkersWanted == nil || m.d.Open != "" || m.d.Wait != nil || !m.due() {
		return
	}
	wanted := *n.WorkersWanted
	switch {
	case n.WorkersLeast == nil || n.WorkersMost == nil:
		m.dropScale("NotScalable", "its profile does not allow scaling")
	case wanted < *n.WorkersLeast || wanted > *n.WorkersMost:
		m.dropScale("OutOfBounds", "its profile allows %d to %d workers", *n.WorkersLeast, *n.WorkersMost)
	case m.mayRun(Scale):
		m.say(n.Status, n.Phase, "scaling from %d to %s", n.workers(), workers(wanted))
		m.open(Scale, JobScale)
	}
}

// settleScale accounts for a scale attempt. It recorded nothing, so a lost attempt leaves nothing to remove. An attempt for a number
// that is no longer requested says nothing about the current request.
func (m *deciding) settleScale(a Attempt) {
	n := m.next()
	n.RetryAt = time.Time{}
	if a.WorkersSeen != nil {
		n.Workers = a.WorkersSeen
	}
	reached := a.Outcome == Succeeded && a.WorkersSeen != nil && *a.WorkersSeen == a.WorkersWanted
	ours := a.stopped()
	switch {
	case n.WorkersWanted == nil || !m.wanted():
	case *n.WorkersWanted != a.WorkersWanted:
		n.ScaleFailures = 0
		m.job(JobScale, JobRetrying, "Changed", "another number of workers was requested")
	case reached:
		m.say(n.Status, n.Phase, "it has %s now", workers(a.WorkersWanted))
		m.job(JobScale, JobSucceeded, "", "")
		n.forgetScale()
	case ours:
		n.RetryAt = m.f.Now.Add(m.l.RetryBase)
		m.job(JobScale, JobRetrying, reasonOf(a), a.Message)
	case n.ScaleFailures+1 >= scaleTries || a.Outcome == Failure && !a.Retryable:
		m.dropScale(reasonOf(a), "%s", uncounted(a))
	default:
		n.ScaleFailures++
		n.RetryAt = m.f.Now.Add(m.l.backoff(n.ScaleFailures))
		m.job(JobScale, JobRetrying, reasonOf(a), uncounted(a))
	}
}

// dropScale gives up the request. The cluster keeps the workers it has.
func (m *deciding) dropScale(code, format string, args ...any) {
	n := m.next()
	m.job(JobScale, JobFailed, code, fmt.Sprintf(format, args...))
	m.say(n.Status, n.Phase, "scaling to %s failed: %s", workers(*n.WorkersWanted), fmt.Sprintf(format, args...))
	n.forgetScale()
}

// cancelScale cancels the request when the cluster is no longer wanted. The wait after a failed scaling must not delay the teardown.
func (m *deciding) cancelScale() {
	n := m.next()
	if n.Status == Ready {
		n.RetryAt = time.Time{}
	}
	if n.WorkersWanted != nil {
		m.job(JobScale, JobFailed, "Cancelled", n.DesiredWhy)
		n.forgetScale()
	}
}

// forgetScale clears the request.
func (c *Cluster) forgetScale() { c.WorkersWanted, c.ScaleFailures = nil, 0 }

// workers returns the number of workers, as far as it is known.
func (c *Cluster) workers() int {
	switch {
	case c.Workers != nil:
		return *c.Workers
	case c.WorkersBase != nil:
		return *c.WorkersBase
	}
	return 0
}

// fewer reports that it runs with fewer workers than its profile defines.
func (c *Cluster) fewer() bool { return c.WorkersBase != nil && c.workers() < *c.WorkersBase }

// uncounted says why a scale attempt did not reach its number. A successful attempt without a count did not reach it either.
func uncounted(a Attempt) string {
	switch {
	case a.Outcome != Succeeded:
		return a.Message
	case a.WorkersSeen == nil:
		return "the workers were not counted"
	}
	return fmt.Sprintf("%s ready", workers(*a.WorkersSeen))
}

func workers(n int) string {
	if n == 1 {
		return "1 worker"
	}
	return fmt.Sprintf("%d workers", n)
}
