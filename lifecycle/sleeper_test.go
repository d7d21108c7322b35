package lifecycle

import "time"

// powering is the way of a runner that puts a cluster to sleep or wakes it: it removes or adds workers, or stops or starts machines.
func (w *world) powering(r *runner) {
	if !r.phaseReported {
		w.say(r, false)
		return
	}
	switch r.phase {
	case Restoring:
		r.installing = true
		r.enter(map[Kind]Phase{Sleep: GoingToSleep, Wake: Waking}[r.kind], []int{2, 3, 4, 5, 6, 7, 8, 9, 1}[w.pick(9)]) // 1: it ends before it touches anything
	case GoingToSleep, Waking:
		if r.steps--; r.steps > 0 {
			w.power = Changing
			return
		}
		r.installing = false
		asleep, untouched := r.kind == Sleep, w.power == Awake
		r.result = &Attempt{Outcome: Succeeded, AsleepSeen: &asleep}
		w.power = map[bool]Power{true: Asleep, false: Awake}[asleep]
		if !w.fair {
			w.poweringFails(r, untouched)
		}
	}
}

// poweringFails makes something else of it, once in a while.
func (w *world) poweringFails(r *runner, untouched bool) {
	other := r.kind == Wake
	switch w.pick(9) {
	case 3:
		if r.kind == Sleep && untouched { // the cloud refused before anything was stopped
			r.result = &Attempt{Outcome: Failure, Reason: "DeniedByPolicy", Message: "a policy denies it", Next: "ask whoever owns the policy", Retryable: w.pick(3) == 2, AsleepSeen: &other}
			w.power = Awake
		}
		return
	case 4, 5:
		r.result = &Attempt{Outcome: Failure, Reason: "MachinesNotStopped", Message: "a machine did not answer", Retryable: w.pick(3) < 2}
	case 6:
		r.result = &Attempt{Outcome: Succeeded}
	case 7:
		r.result = &Attempt{Outcome: Succeeded, AsleepSeen: &other}
	case 8:
		if r.kind == Wake {
			r.result.Reason, r.result.Message, r.result.Next = ControlPlaneIncomplete, "its control plane has 2 of 3 machines", "replace the machine"
		}
		return
	default:
		return
	}
	w.power = Changing
}

// needsPower is what every runner needs that works inside the cluster.
func (w *world) needsPower(r *runner) {
	if w.power != Awake && w.row.Desired == Present && !r.term && !r.over && !r.fenced {
		w.breach("a runner works inside a cluster that sleeps", 4)
	}
}

// putToSleep is store.Sleep, but for the mode: that a cluster has none slips through.
func (w *world) putToSleep(length time.Duration) {
	if w.row.Status != Ready || w.row.Desired != Present || w.row.SleepWanted && w.row.PowerBy == ByPerson {
		return
	}
	w.note("somebody puts it to sleep for %s", length)
	w.slept = true
	owed := w.row.Power != Asleep
	w.touch(func(c *Cluster) {
		c.SleepWanted, c.SleepWhy, c.PowerBy = true, "asked for by maya", ByPerson
		c.resetPower()
		c.SleepUntil = time.Time{}
		if length > 0 {
			c.SleepUntil = w.now.Add(length)
		}
	})
	for _, job := range []JobType{JobWake, JobOffHoursDown, JobOffHoursUp} {
		w.moveJob(JobMove{Type: job, To: JobFailed})
	}
	if owed {
		w.moveJob(JobMove{Type: JobSleep, To: JobPending})
	}
}

// wakeUp is store.Wake.
func (w *world) wakeUp() {
	if w.row.Status != Ready || w.row.Desired != Present || !w.row.SleepWanted {
		return
	}
	w.note("somebody wakes it")
	owed := w.row.Power != Awake
	w.touch(func(c *Cluster) {
		c.SleepWanted, c.SleepUntil, c.PowerBy = false, time.Time{}, ByPerson
		c.resetPower()
		c.ActiveAt, c.ActiveWhat = w.now, "somebody woke it"
	})
	for _, job := range []JobType{JobSleep, JobOffHoursDown, JobOffHoursUp} {
		w.moveJob(JobMove{Type: job, To: JobFailed})
	}
	if owed {
		w.moveJob(JobMove{Type: JobWake, To: JobPending})
	}
}
