package lifecycle

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// sleepTries is how many tries in a row to put a cluster to sleep may fail before ocpctl gives up and wakes it again.
const sleepTries = 3

// wakeRetryMost is the longest wait between two tries to wake a cluster. They are never given up.
const wakeRetryMost = 15 * time.Minute

// SleepMode is how a cluster sleeps. Its profile says so, and it is frozen at acceptance.
type SleepMode string

// The ways to sleep.
const (
	SleepWorkers SleepMode = "workers" // its workers are removed, the control plane runs on
	SleepStopped SleepMode = "stopped" // all its machines are stopped
)

// Power is whether a cluster is asleep, as last seen.
type Power string

// The powers. A cluster is between the two from the moment when an attempt is opened until one was seen to succeed.
const (
	Awake    Power = ""
	Changing Power = "changing"
	Asleep   Power = "asleep"
)

// Usable reports that the cluster can be used: it is ready, awake, and not about to sleep.
func (c Cluster) Usable() bool { return c.Status == Ready && c.powerPhase() == "" }

// OutOfReach reports that the API of a ready cluster may not answer, because its machines are stopped, or were not seen to run again.
func (c Cluster) OutOfReach() bool { return c.SleepMode == SleepStopped && c.Power != Awake }

// powerOwed reports that the cluster is not as asleep, or as awake, as it should be.
func (c Cluster) powerOwed() bool { return c.SleepWanted != (c.Power == Asleep) || c.Power == Changing }

// powerPhase returns the phase of a ready cluster that sleeps, or is on its way; empty: it is awake and stays so.
func (c Cluster) powerPhase() Phase {
	switch {
	case c.SleepWanted && c.Power == Asleep:
		return PhaseAsleep
	case c.SleepWanted:
		return GoingToSleep
	case c.Power != Awake:
		return Waking
	}
	return ""
}

// power opens an attempt to put the cluster to sleep, or to wake it. The cluster stays READY meanwhile, and its phase says that it
// cannot be used.
func (m *deciding) power() {
	n := m.next()
	m.wakeOnTime()
	m.keepHours()
	m.keepIdle()
	if n.SleepWanted && n.SleepMode == "" {
		_, job := n.powerWork()
		m.job(job, JobFailed, "CannotSleep", "its profile has no way to sleep")
		n.SleepWanted, n.SleepUntil = false, time.Time{}
	}
	if !n.powerOwed() || m.d.Open != "" || m.d.Wait != nil || m.f.Now.Before(n.SleepRetryAt) {
		return
	}
	if kind, job := n.powerWork(); m.mayRun(kind) {
		m.open(kind, job)
		n.Power = Changing
	}
}

// powerWork returns what is to be done about a cluster's power.
func (c Cluster) powerWork() (Kind, JobType) {
	switch {
	case c.SleepWanted && c.PowerBy == ByHours:
		return Sleep, JobOffHoursDown
	case c.SleepWanted:
		return Sleep, JobSleep
	case c.PowerBy == ByHours:
		return Wake, JobOffHoursUp
	}
	return Wake, JobWake
}

// wakeOnTime wakes a cluster whose time asleep is over. What a schedule put to sleep is left to the schedule, if that is known.
func (m *deciding) wakeOnTime() {
	n := m.next()
	if n.PowerBy == ByHours && m.f.Hours != nil {
		return
	}
	if n.SleepWanted && !n.SleepUntil.IsZero() && !m.f.Now.Before(n.SleepUntil) {
		_, job := n.powerWork()
		m.job(job, JobFailed, "TimeOver", "the time to sleep was over")
		if n.PowerBy == ByPerson && n.SleepUntil.After(n.ActiveAt) { // no schedule puts it to sleep again at once
			n.ActiveAt, n.ActiveWhat = n.SleepUntil, ActivitySlept
		}
		m.wantAwake()
	}
}

// wantAwake ends the request to sleep on ocpctl's own initiative.
func (m *deciding) wantAwake() {
	n := m.next()
	n.SleepWanted, n.SleepUntil, n.SleepFailures, n.SleepRetryAt = false, time.Time{}, 0, time.Time{}
	if _, job := n.powerWork(); n.powerOwed() {
		m.job(job, JobPending, "", "")
	}
}

// settlePower accounts for an attempt to put the cluster to sleep or to wake it. It recorded no names, so a lost attempt leaves nothing
// to remove. The power is what the runner saw, and never follows from its exit.
func (m *deciding) settlePower(a Attempt) {
	n := m.next()
	seen := a.Outcome == Succeeded && a.AsleepSeen != nil && *a.AsleepSeen == (a.Kind == Sleep)
	switch {
	case seen && a.Kind == Sleep:
		n.Power = Asleep
	case seen:
		n.Power, n.AwakeSince, n.Degraded = Awake, m.f.Now, ""
		if a.Reason == ControlPlaneIncomplete {
			n.Degraded = withNext(a.Message, a.Next)
		}
	case a.stayedAwake():
		n.Power = Awake
	}
	_, job := n.powerWork()
	switch {
	case !m.wanted():
	case n.SleepWanted != (a.Kind == Sleep): // somebody changed their mind meanwhile
		n.SleepFailures, n.SleepRetryAt = 0, time.Time{}
		if !n.powerOwed() {
			m.job(job, JobSucceeded, "", "it was never put to sleep")
		}
	case seen:
		n.SleepFailures, n.SleepRetryAt = 0, time.Time{}
		m.job(job, JobSucceeded, "", a.Message) // which operators are not well
	case a.stopped():
		n.SleepRetryAt = m.f.Now.Add(m.l.RetryBase)
		m.job(job, JobRetrying, reasonOf(a), a.Message)
	default:
		m.powerFailed(a, job)
	}
}

// stayedAwake reports that the attempt did not put the cluster to sleep, and saw that all of it still runs.
func (a Attempt) stayedAwake() bool {
	return a.Kind == Sleep && a.Outcome == Failure && a.AsleepSeen != nil && !*a.AsleepSeen
}

// powerFailed counts a failed try. A cluster that cannot be put to sleep is woken again, unless it was seen that all of it still runs. One that
// cannot be woken is tried until it ends.
func (m *deciding) powerFailed(a Attempt, job JobType) {
	n, why := m.next(), cmp.Or(a.Message, "it was not seen "+map[Kind]string{Sleep: "asleep", Wake: "awake"}[a.Kind])
	n.SleepFailures++
	if a.Kind == Sleep && (n.SleepFailures >= sleepTries || a.Outcome == Failure && !a.Retryable) {
		m.job(job, JobFailed, reasonOf(a), why)
		m.skipRest()
		m.wantAwake()
		if why = withNext(why, a.Next); n.Power == Awake {
			m.sayUsual("it could not be put to sleep and stays awake: " + why)
			return
		}
		m.say(Ready, Waking, "it could not be put to sleep and is woken again: %s", why)
		return
	}
	n.SleepRetryAt = m.f.Now.Add(min(m.l.backoff(n.SleepFailures), wakeRetryMost))
	m.job(job, JobRetrying, reasonOf(a), why)
	m.say(Ready, n.powerPhase(), "%s; it is tried again: %s", n.powerText(), withNext(why, a.Next))
}

// withNext adds to what happened what to do about it, without a final stop.
func withNext(what, next string) string {
	what = strings.TrimRight(what, ".")
	if next == "" {
		return what
	}
	return what + ". " + strings.ToUpper(next[:1]) + strings.TrimRight(next[1:], ".")
}

// cancelPower cancels the requests when the cluster is no longer wanted. It is removed as it is: asleep, or on its way.
func (m *deciding) cancelPower() {
	n := m.next()
	if n.Status != Ready && n.Phase != Stopping {
		return
	}
	for _, job := range []JobType{JobSleep, JobWake, JobOffHoursDown, JobOffHoursUp} {
		m.job(job, JobFailed, "Cancelled", n.DesiredWhy) // affects the jobs only if they are unfinished
	}
	n.SleepWanted, n.SleepUntil, n.SleepFailures, n.SleepRetryAt = false, time.Time{}, 0, time.Time{}
}

// powerText says what a ready cluster does that sleeps, or is on its way.
func (c Cluster) powerText() string {
	text := ""
	switch c.powerPhase() {
	case PhaseAsleep:
		text = map[SleepMode]string{SleepWorkers: "it is asleep without workers", SleepStopped: "it is asleep, with all machines stopped"}[c.SleepMode]
	case GoingToSleep:
		text = "it goes to sleep"
	default:
		if text = "it wakes up"; c.PowerBy == ByPerson { // the reason is one to sleep
			return text
		}
	}
	if c.SleepWhy != "" {
		text = fmt.Sprintf("%s (%s)", text, c.SleepWhy)
	}
	return text
}
