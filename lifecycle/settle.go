package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/kinds"
)

// settle accounts for the outcomes of closed attempts, once each.
func (m *deciding) settle() {
	for _, a := range m.f.Missed {
		m.settleOne(a)
	}
	if m.f.Last != nil {
		m.settleOne(*m.f.Last)
	}
}

// settleOne accounts for the outcome of an attempt. That of an unknown kind waits for a server that knows it.
func (m *deciding) settleOne(a Attempt) {
	n, kind := m.next(), m.kind(a.Kind)
	switch {
	case !m.l.Knows(a.Kind), kind != nil && a.Number <= n.Work[a.Kind].Seen, kind == nil && a.Number <= n.Seen:
		return
	}
	n.Progress = Progress{}
	switch {
	case kind != nil:
		m.settleWork(kind, a)
	case a.Kind == Create:
		n.Seen = a.Number
		m.settleCreate(a)
	default:
		n.Seen = a.Number
		m.settleDestroy(a)
	}
}

func (m *deciding) settleCreate(a Attempt) {
	n := m.next()
	try := max(n.Tries, 1) // people count create tries; the attempt number also counts teardowns and checks for capacity
	if a.Outcome == Succeeded {
		m.job(JobCreate, JobSucceeded, "", "")
		n.FailReason, n.FailMessage, n.FailWhose, n.FailNext = "", "", "", ""
		if n.ReadyAt.IsZero() {
			n.ReadyAt = m.f.Now
		}
		if m.isWanted() {
			done := "installed"
			if !kinds.Can(n.Provisioner, kinds.Installer) {
				done = "created"
			}
			text := fmt.Sprintf("%s on attempt %d of %d", done, try, n.MaxTries)
			if n.Spot == SpotGivenUp {
				text += ", " + noSpot
			}
			m.say(Ready, PhaseReady, "%s", text)
			m.oweAddons(a)
			m.oweAccess(a)
		}
		return
	}
	if !m.keepsPlace(a) {
		n.FailReason, n.FailMessage, n.FailWhose, n.FailNext = reasonOf(a), a.Message, a.Whose, a.Next
	}
	switch {
	case !m.isWanted():
		m.job(JobCreate, JobFailed, "Cancelled", n.DesiredWhy.String())
	case a.Outcome == Waiting || m.keepsPlace(a):
		m.again(a)
		m.say(Pending, AwaitingCapacity, "%s", m.waits(a))
	case a.wasStopped():
		m.again(a) // ocpctl ended it itself, so no try is spent
		m.retryText(a, try)
	case n.Tries < n.MaxTries && (a.Retryable || a.Outcome == Lost):
		n.RetryAt = m.f.Now.Add(m.l.backoff(n.Tries))
		m.job(JobCreate, JobRetrying, n.FailReason, a.Message)
		m.retryText(a, try)
	default:
		m.job(JobCreate, JobFailed, n.FailReason, a.Message)
		m.dismiss(Reason{Code: ReasonInstallFailed, Words: a.Message})
		m.move(Failed, CreateFailed, MoveReason{Words: fmt.Sprintf("attempt %d of %d failed", try, n.MaxTries), Failure: a.Message})
	}
}

// forgetFailure clears the failure of a cluster that was ended before it was ready. It ended on request or because its time was over,
// so neither an earlier try nor the way its stopped install ended is a problem to report.
func (m *deciding) forgetFailure() {
	n := m.next()
	if m.isWanted() || !n.ReadyAt.IsZero() || n.DesiredWhy.Code == ReasonInstallFailed {
		return
	}
	n.FailReason, n.FailMessage, n.FailWhose, n.FailNext = "", "", "", ""
}

// again gives back a try that does not count.
func (m *deciding) again(a Attempt) {
	n := m.next()
	n.Tries = max(n.Tries-1, 0)
	n.RetryAt = m.f.Now.Add(m.l.RetryBase)
	m.job(JobCreate, JobRetrying, reasonOf(a), a.Message)
}

// retryText shows what the retry begins with: cleaning up if something may exist, otherwise the queue.
func (m *deciding) retryText(a Attempt, try int) {
	n := m.next()
	tries := fmt.Sprintf("attempt %d of %d", try, n.MaxTries)
	if a.Recorded {
		m.move(Creating, Cleaning, MoveReason{Words: tries + " did not finish", Failure: a.Message, Next: n.withoutSpot("what it created is removed, then the next attempt begins", n.Tries)})
		return
	}
	m.move(Pending, Queued, MoveReason{Words: tries + " created nothing", Failure: a.Message, Next: n.withoutSpot("the next attempt follows", n.Tries)})
}

func (m *deciding) settleDestroy(a Attempt) {
	n := m.next()
	job := m.teardownJob()
	if m.provesZero(a) {
		n.DestroyFailures, n.Blockers, n.RetryAt = 0, nil, time.Time{}
		n.StuckReason, n.StuckWhose, n.StuckNext = "", "", ""
		return
	}
	if a.wasStopped() {
		n.RetryAt = m.f.Now.Add(m.l.RetryBase)
		m.job(job, JobRetrying, reasonOf(a), a.Message)
		return
	}
	n.DestroyFailures++
	if len(a.Passes) > 0 { // an attempt that counted nothing knows no more than the last one that did
		n.Blockers = a.Passes[len(a.Passes)-1].Leftovers
	}
	if a.Next != "" { // an attempt that was lost knows no more than the last one that was not
		n.StuckReason, n.StuckWhose, n.StuckNext = reasonOf(a), a.Whose, a.Next
	}
	n.RetryAt = m.f.Now.Add(m.l.backoff(n.DestroyFailures))
	m.job(job, JobRetrying, reasonOf(a), a.Message)
	what := a.Message
	switch {
	case len(n.Blockers) > 0:
		what = "still there: " + nameBlockers(n.Blockers)
	case what == "":
		what = "the count of what is left was incomplete"
	}
	if len(n.Blockers) == 0 && a.Next != "" {
		what = withNext(what, a.Next)
	}
	if n.DestroyFailures >= m.l.BlockAfter && n.Phase != Abandoned {
		m.say(Failed, DestroyBlocked, "%d teardowns left something behind; %s. The next attempt is at %s; ocpctl retries until nothing is left",
			n.DestroyFailures, what, n.RetryAt.UTC().Format("15:04:05 MST on 2 January"))
		return
	}
	m.say(n.Status, n.Phase, "teardown %d left something behind; %s. It is tried again", n.DestroyFailures, what)
}

// teardownJob returns the job of a teardown: cleaning up between two tries belongs to the create.
func (m *deciding) teardownJob() JobType {
	if m.isWanted() {
		return JobCreate
	}
	return m.next().Teardown
}

// provesZero reports that the attempt counted zero twice, far enough apart, after the destroyer had ended, for every name ever recorded.
// An exit code is no proof, and neither is a count from before its teardown was opened again.
func (m *deciding) provesZero(a Attempt) bool {
	if a.Kind != Destroy || a.Outcome != Succeeded || len(a.Passes) < 2 || a.OpenedAt.Before(m.next().ReopenedAt) {
		return false
	}
	first, second := a.Passes[len(a.Passes)-2], a.Passes[len(a.Passes)-1]
	return m.counts(a, first) && m.counts(a, second) && second.At.Sub(first.At) >= m.l.VerifyGap
}

func (m *deciding) counts(a Attempt, p Pass) bool {
	if !p.Clean || (len(m.f.Identities) > 0 && a.ToolExitedAt.IsZero()) || p.At.Before(a.ToolExitedAt) {
		return false
	}
	for _, id := range m.f.Identities {
		if !slices.Contains(p.Identities, id) {
			return false
		}
	}
	return true
}

func reasonOf(a Attempt) string {
	if a.Reason != "" {
		return a.Reason
	}
	return string(a.Outcome)
}
