package lifecycle

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

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

// powerPhase returns the phase of a ready cluster that sleeps, is on its way, or is prepared for its claimant; empty: it is awake and stays so.
func (c Cluster) powerPhase() Phase {
	switch {
	case c.SleepWanted && c.Power == Asleep:
		return PhaseAsleep
	case c.SleepWanted:
		return GoingToSleep
	case c.Power != Awake:
		return Waking
	case c.Work[Prepare].IsRequested():
		return Preparing
	}
	return ""
}

// sleepKind puts the cluster to sleep, and its phase says that it cannot be used. One that cannot be put to sleep is woken again, unless it was seen
// that all of it still runs.
func sleepKind() WorkKind {
	k := powerKind(Sleep, true)
	k.Tries, k.prepare, k.cancel = workTries, (*deciding).watchPower, (*deciding).cancelPower
	k.drop = func(m *deciding) {
		m.skipRest()
		m.wantAwake()
	}
	k.givenUp = func(m *deciding, why, next string) {
		if why = withNext(why, next); m.next().Power == Awake {
			m.sayUsual("it could not be put to sleep and stays awake: " + why)
			return
		}
		m.say(Ready, Waking, "it could not be put to sleep and is woken again: %s", why)
	}
	return k
}

// wakeKind makes a cluster usable again. One that cannot be woken is tried until it ends.
func wakeKind() WorkKind {
	k := powerKind(Wake, false)
	k.cancel = func(*deciding) {} // what cancels sleep does
	return k
}

// powerKind is what both have in common. asleep says how the cluster is to be.
func powerKind(kind Kind, asleep bool) WorkKind {
	return WorkKind{
		Kind: kind, Text: "change of power", RetryMax: wakeRetryMost, job: Cluster.powerJob,
		owed:     func(m *deciding) bool { return m.next().SleepWanted == asleep && m.next().powerOwed() },
		ready:    func(*deciding) bool { return true },
		begin:    func(m *deciding) { m.next().Power = Changing },
		see:      (*deciding).seePower,
		isMet:    func(m *deciding, a Attempt) bool { return m.next().SleepWanted == asleep && a.observesPower() },
		outdated: func(Cluster, Attempt) bool { return false },
		failure: func(_ *deciding, a Attempt) string {
			return cmp.Or(a.Message, "it was not seen "+map[bool]string{true: "asleep", false: "awake"}[asleep])
		},
		failed: func(m *deciding, a Attempt, why string) {
			n := m.next()
			m.say(Ready, n.powerPhase(), "%s; it is tried again: %s", n.powerText(), withNext(why, a.Next))
		},
		needless: func(m *deciding, _ Attempt) string {
			switch wanted := m.next().SleepWanted; {
			case wanted == asleep:
				return ""
			case wanted:
				return "it is to be asleep"
			}
			return "it is to be awake"
		},
	}
}

// watchPower decides whether the cluster should be asleep.
func (m *deciding) watchPower() {
	n := m.next()
	m.wakeOnTime()
	m.keepHours()
	m.keepIdle()
	if n.SleepWanted && n.SleepMode == "" {
		m.job(n.powerJob(), JobFailed, "CannotSleep", n.WhyNoSleep())
		n.SleepWanted, n.SleepUntil = false, time.Time{}
	}
}

// powerJob returns the job type of what is to be done about a cluster's power.
func (c Cluster) powerJob() JobType {
	switch {
	case c.SleepWanted && c.PowerBy == ByHours:
		return JobOffHoursDown
	case c.SleepWanted:
		return JobSleep
	case c.PowerBy == ByHours:
		return JobOffHoursUp
	}
	return JobWake
}

// wakeOnTime wakes a cluster whose time asleep is over. What a schedule put to sleep is left to the schedule, if that is known.
func (m *deciding) wakeOnTime() {
	n := m.next()
	if n.PowerBy == ByHours && m.f.Hours != nil {
		return
	}
	if n.SleepWanted && !n.SleepUntil.IsZero() && !m.f.Now.Before(n.SleepUntil) {
		m.job(n.powerJob(), JobFailed, "TimeOver", "the time to sleep was over")
		if n.PowerBy == ByPerson && n.SleepUntil.After(n.ActiveAt) { // no schedule puts it to sleep again at once
			n.ActiveAt, n.ActiveWhat = n.SleepUntil, ActivitySlept
		}
		m.wantAwake()
	}
}

// wantAwake ends the request to sleep on ocpctl's own initiative.
func (m *deciding) wantAwake() {
	n := m.next()
	n.SleepWanted, n.SleepUntil = false, time.Time{}
	n.resetPower()
	if n.powerOwed() {
		m.job(n.powerJob(), JobPending, "", "")
	}
}

// seePower takes in what an attempt saw of the power. That never follows from a runner's exit.
func (m *deciding) seePower(a Attempt) {
	n := m.next()
	switch {
	case a.observesPower() && a.Kind == Sleep:
		n.Power = Asleep
	case a.observesPower():
		n.Power, n.AwakeSince, n.Degraded = Awake, m.f.Now, ""
		if a.Reason == ControlPlaneIncomplete {
			n.Degraded = withNext(a.Message, a.Next)
		}
	case a.Kind == Sleep && a.Outcome == Failure && a.AsleepSeen != nil && !*a.AsleepSeen: // and that all of it still runs
		n.Power = Awake
	}
	if m.isWanted() && n.SleepWanted != (a.Kind == Sleep) { // somebody changed their mind meanwhile
		n.resetPower()
		if !n.powerOwed() {
			m.job(n.powerJob(), JobSucceeded, "", "it was never put to sleep")
		}
	}
}

// observesPower reports that the attempt saw the cluster asleep, or awake, as it was to make it.
func (a Attempt) observesPower() bool {
	return a.Outcome == Succeeded && a.AsleepSeen != nil && *a.AsleepSeen == (a.Kind == Sleep)
}

// resetPower makes the next try to put the cluster to sleep, or to wake it, the first one: what is wanted has changed.
func (c *Cluster) resetPower() {
	c.ResetWork(Sleep)
	c.ResetWork(Wake)
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
		m.job(job, JobFailed, "Cancelled", n.DesiredWhy.String()) // affects the jobs only if they are unfinished
	}
	n.SleepWanted, n.SleepUntil = false, time.Time{}
	n.resetPower()
}

// powerText says what a ready cluster does that sleeps, or is on its way.
func (c Cluster) powerText() string {
	text := ""
	switch c.powerPhase() {
	case PhaseAsleep:
		text = map[SleepMode]string{SleepWorkers: "it is asleep without workers", SleepStopped: "it is asleep, with all machines stopped"}[c.SleepMode]
	case GoingToSleep:
		text = "it goes to sleep"
	case Preparing:
		return "it was claimed from the pool " + c.Pool + " and is prepared for its new owner"
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
