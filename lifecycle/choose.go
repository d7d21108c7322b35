package lifecycle

import (
	"fmt"
	"strings"
	"time"
)

// choose decides what to begin while no attempt is open.
func (m *mind) choose() {
	if m.wanted() {
		m.chooseWanted()
		return
	}
	m.chooseUnwanted()
}

func (m *mind) chooseUnwanted() {
	n, last := m.next(), m.f.Last
	m.cancelScale()
	m.cancelConfigure()
	if last == nil {
		m.release("%s; nothing was ever created, so there is nothing to remove", n.WishWhy)
		return
	}
	if m.proved(*last) {
		m.release("%s; two counts in a row found nothing left of %s", n.WishWhy, names(len(m.f.Identities)))
		return
	}
	if n.Status != Failed && n.Status != Destroying {
		m.say(Destroying, Restoring, "%s", n.WishWhy)
	}
	if n.Phase == Stopping {
		m.say(Destroying, Restoring, "%s; the %s was stopped, and what it created is being removed", n.WishWhy, last.Kind.words())
	}
	if m.due() {
		m.open(Destroy, n.Teardown)
	}
}

func (m *mind) chooseWanted() {
	n := m.next()
	switch {
	case n.Status == Ready:
		m.tend()
	case n.NeedsApproval:
		if n.Phase != AwaitingApproval {
			m.say(Pending, AwaitingApproval, "a maintainer has to approve it first")
		}
	case n.NeedsTurn && m.mayCreate():
		m.say(Pending, AwaitingCapacity, "%s", m.f.Turn.words())
	case m.mayCreate():
		m.queue()
		if m.due() {
			n.Tries++
			// One that waits only looks, and a look that finds no room is no move. Before the first look it waited for its turn.
			if n.Phase != AwaitingCapacity || m.f.Last == nil {
				m.say(Creating, Preflight, "try %d of %d begins", n.Tries, n.MaxTries)
			}
			m.open(Create, JobCreate)
		}
	default: // a recorded attempt failed: remove what it made before the next one
		if n.Status != Failed && n.Phase != Cleaning {
			m.say(Creating, Cleaning, "what the last attempt created is removed first")
		}
		if m.due() {
			m.open(Destroy, JobCreate)
		}
	}
}

// mayCreate: nothing was ever begun, or nothing was recorded by the last attempt, or zero is proven since.
func (m *mind) mayCreate() bool {
	last := m.f.Last
	return last == nil || (last.Kind == Create && !last.Recorded) || m.proved(*last)
}

// quieten shows that an admin gave up waiting for the blocked teardown of what nobody wants any more. It changes nothing
// else: the teardown goes on.
func (m *mind) quieten() {
	if n := m.next(); n.Abandoned && n.Phase == DestroyBlocked && !m.wanted() {
		m.say(Failed, Abandoned, "an admin abandoned it; it stays in all counts until nothing is left")
	}
}

// tend looks after a ready cluster.
func (m *mind) tend() {
	m.scale()
	m.configure()
	m.showReady()
}

// showReady says in time that the end is near, and otherwise whether the workers are all there.
func (m *mind) showReady() {
	n := m.next()
	end := n.Ends.DestroyAt()
	near := !m.f.Now.Before(end.Add(-m.l.WarnBefore))
	usual := PhaseReady
	if n.fewer() {
		usual = ScaledDown
	}
	const ends = "it ends at "
	switch {
	case near && (n.Phase == PhaseReady || n.Phase == ScaledDown || n.Phase == Expiring && strings.HasPrefix(n.Why, ends)): // an end that moved is said anew
		m.say(Ready, Expiring, ends+"%s (%s)", end.UTC().Format("15:04 MST on 2 January"), n.Ends.Reason())
	case near:
	case n.Phase == Expiring:
		m.say(Ready, usual, "its end was postponed") // without the time: it stays said when the end moves once more
	case n.Phase == PhaseReady && usual == ScaledDown:
		m.say(Ready, ScaledDown, "it runs with %d of its profile's %s", n.workers(), workers(*n.WorkersBase))
	case n.Phase == ScaledDown && usual == PhaseReady:
		m.say(Ready, PhaseReady, "it has %s again", workers(n.workers()))
	}
}

// release ends the life. Only here does a cluster become DESTROYED.
func (m *mind) release(format string, args ...any) {
	n := m.next()
	m.say(Destroyed, Released, format, args...)
	n.ReleasedAt, n.RetryAt, n.Blockers, n.Progress = m.f.Now, time.Time{}, nil, Progress{}
	m.job(JobCreate, JobFailed, "Cancelled", n.WishWhy) // only where it is still unfinished
	m.job(n.Teardown, JobSucceeded, "", "")
}

func names(n int) string {
	switch n {
	case 0:
		return "it, and nothing was ever recorded"
	case 1:
		return "the one name it was recorded under"
	}
	return fmt.Sprintf("the %d names it was recorded under", n)
}
