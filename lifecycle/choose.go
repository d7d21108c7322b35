package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// choose decides which attempt to open while none is open.
func (m *deciding) choose() {
	if m.isWanted() {
		m.chooseWanted()
		return
	}
	m.chooseUnwanted()
}

// chooseAlone opens no attempt while a runner of an earlier one is alive. It was fenced when its attempt was closed, but a hung one may
// still act. So it is asked to stop, and the cluster waits until it is gone.
func (m *deciding) chooseAlone() {
	m.next().Progress = Progress{}
	before := m.d
	m.choose()
	if m.d.Open == "" || len(m.f.Beside) == 0 {
		return
	}
	m.d, m.blocked = before, true
	m.stopOthers()
	n := m.next()
	const why = "stopping the previous attempt first"
	switch {
	case !m.isWanted() && n.Status != Failed:
		m.move(Destroying, Stopping, MoveReason{Cause: n.DesiredWhy, Words: why})
	case n.Phase == AwaitingCapacity && n.Why.Runner == "": // what it shows does not depend on runners
	case n.Status == Pending:
		m.say(Pending, Queued, why)
	case n.Status == Ready:
		m.showReady()
		n.Progress.Step = why
	default:
		n.Progress.Step = why
	}
}

func (m *deciding) chooseUnwanted() {
	n, last := m.next(), m.f.Last
	m.cancelWork()
	if last == nil && n.ReopenedAt.IsZero() {
		m.release("nothing was ever created, so there is nothing to remove")
		return
	}
	if last != nil && m.provesZero(*last) {
		m.release("nothing of it is left in the cloud")
		return
	}
	if n.Status != Failed && n.Status != Destroying {
		m.move(Destroying, Restoring, MoveReason{Cause: n.DesiredWhy})
	}
	if n.Phase == Stopping {
		m.move(Destroying, Restoring, MoveReason{Cause: n.DesiredWhy, Words: "the " + m.text(last.Kind) + " was stopped, and what it created is being removed"})
	}
	if m.due() && m.mayRun(Destroy) {
		m.open(Destroy, n.Teardown)
	}
}

func (m *deciding) chooseWanted() {
	n := m.next()
	switch {
	case n.Status == Ready:
		m.tend()
	case n.NeedsApproval:
		if n.Phase != AwaitingApproval {
			m.say(Pending, AwaitingApproval, "a maintainer has to approve it first")
		}
	case n.NeedsTurn && m.mayCreate():
		m.say(Pending, AwaitingCapacity, "%s", m.f.Turn.text())
	case m.mayCreate():
		m.begin()
	default: // a recorded attempt failed: remove what it made before the next one
		if n.Status != Failed && n.Phase != Cleaning {
			m.say(Creating, Cleaning, "what the last attempt created is removed first")
		}
		if m.due() && m.mayRun(Destroy) {
			m.open(Destroy, JobCreate)
		}
	}
}

// begin opens the next create attempt when it is due, no brake holds and a runner may start.
func (m *deciding) begin() {
	n := m.next()
	m.queue()
	checks := m.waitsForCapacity() // and a check that finds no capacity changes nothing visible
	switch {
	case !m.due() || m.isBraked():
	case !m.mayRun(Create):
		if !checks {
			m.move(Pending, AwaitingCapacity, MoveReason{Runner: m.d.Wait.For})
		}
	default:
		n.Tries++
		m.orderSpot()
		if !checks {
			m.say(Creating, Preflight, "%s", n.withoutSpot(fmt.Sprintf("attempt %d of %d begins", n.Tries, n.MaxTries), n.Tries-1))
		}
		m.open(Create, JobCreate)
	}
}

// mayCreate reports that a create may begin: there was no attempt yet, the last one recorded nothing, or zero was proven since.
func (m *deciding) mayCreate() bool {
	last := m.f.Last
	return last == nil || (last.Kind == Create && !last.Recorded) || m.provesZero(*last)
}

// quieten shows that an admin abandoned the blocked teardown of a cluster that is no longer wanted. It changes nothing else: the
// teardown goes on.
func (m *deciding) quieten() {
	if n := m.next(); n.Abandoned && n.Phase == DestroyBlocked && !m.isWanted() {
		m.say(Failed, Abandoned, "an admin abandoned it; it still counts until nothing is left")
	}
}

// tend decides about a ready cluster: the work on it, and what is shown.
func (m *deciding) tend() {
	for i := range m.kinds {
		m.advance(&m.kinds[i])
	}
	m.showReady()
}

// usualPhase returns the phase of a ready cluster that is awake and does not end soon.
func (c *Cluster) usualPhase() Phase {
	switch {
	case c.Degraded != "":
		return Degraded
	case c.fewer():
		return ScaledDown
	}
	return PhaseReady
}

// sayUsual shows the usual phase, with what the control plane lacks.
func (m *deciding) sayUsual(why string) {
	n := m.next()
	m.say(Ready, n.usualPhase(), "%s", strings.TrimSuffix(why+"; "+n.Degraded, "; "))
}

// showReady shows whether it sleeps, then Expiring when the end is near, and otherwise whether its control plane and all workers are there.
func (m *deciding) showReady() {
	m.watchIdle() // it may have become ready, or woken
	n := m.next()
	end := n.Ends.DestroyAt()
	near := m.nearEnd()
	usual := n.usualPhase()
	if p := n.powerPhase(); p != "" {
		if n.Phase != p {
			m.say(Ready, p, "%s", n.powerText())
		}
		return
	}
	if slices.Contains([]Phase{GoingToSleep, PhaseAsleep, Waking, Preparing}, n.Phase) {
		m.sayUsual("it is awake")
	}
	switch {
	case near && (n.Phase == PhaseReady || n.Phase == ScaledDown || n.Phase == Degraded || n.Phase == Expiring && n.Why.Code == MoveExpires): // an end that moved is shown again
		m.move(Ready, Expiring, MoveReason{Code: MoveExpires, Cause: n.Ends.Reason(), Words: "it ends at " + end.UTC().Format("15:04 MST on 2 January")})
	case near:
	case n.Phase == Expiring:
		m.sayUsual("its end was postponed") // without the time, so that the text stays correct when the end moves again
	case n.Phase == PhaseReady && usual == ScaledDown:
		m.say(Ready, ScaledDown, "it runs with %d of its profile's %s", n.workers(), workers(*n.WorkersBase))
	case n.Phase == ScaledDown && usual == PhaseReady:
		m.say(Ready, PhaseReady, "it has %s again", workers(n.workers()))
	}
}

// release ends the cluster's life. A cluster becomes DESTROYED only here.
func (m *deciding) release(words string) {
	n := m.next()
	m.move(Destroyed, Released, MoveReason{Cause: n.DesiredWhy, Words: words})
	n.ReleasedAt, n.RetryAt, n.Blockers, n.Progress = m.f.Now, time.Time{}, nil, Progress{}
	n.StuckReason, n.StuckWhose, n.StuckNext = "", "", ""
	m.job(JobCreate, JobFailed, "Cancelled", n.DesiredWhy.String()) // affects the job only if it is unfinished
	m.job(n.Teardown, JobSucceeded, "", "")
}
