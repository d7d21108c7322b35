package lifecycle

import "time"

// keptAwake returns until when nothing may put the cluster to sleep for the night, and worth whether enough of the night is left then.
func keptAwake(c Cluster, f Facts) (until time.Time, worth bool) {
	h := f.Hours
	until = f.Now
	for _, at := range []time.Time{h.Closes, c.AwakeUntil, after(c.ActiveAt, h.AwakeFor), after(c.ReadyAt, h.AwakeFor)} {
		if at.After(until) {
			until = at
		}
	}
	end := c.Ends.DestroyAt()
	if opening := h.Opens.Add(-h.WakeAhead); !h.Opens.IsZero() && opening.Before(end) {
		end = opening
	}
	return until, !end.Before(until.Add(leastRest))
}

// ruled reports that a schedule applies to the cluster, and is known.
func ruled(n Cluster, f Facts) bool {
	return f.Hours != nil && f.Hours.Scheduled && n.OffHours && n.SleepMode != "" && n.Status == Ready && n.Desired == Present
}

// restOver reports that a schedule ends the sleep to which it sent the cluster.
func restOver(c, n Cluster, f Facts) bool {
	if c.PowerBy != ByHours || f.Hours == nil {
		return false
	}
	until, _ := keptAwake(n, f)
	return !ruled(n, f) || f.Hours.Open || until.After(f.Now) || !f.Hours.Opens.IsZero() && !f.Now.Before(f.Hours.Opens.Add(-f.Hours.WakeAhead))
}

// A schedule puts to sleep only what asked for it, outside working hours, for a while that is worth it, and when nobody keeps it awake.
func restIsOutsideHours(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	if !n.SleepWanted || c.SleepWanted || n.PowerBy == ByIdle { // of that, see idleSleepIsDue
		return ""
	}
	switch {
	case !ruled(n, f):
		return "a cluster is put to sleep by no schedule"
	case f.Hours.Open:
		return "a cluster is put to sleep while people work"
	}
	if until, worth := keptAwake(n, f); until.After(f.Now) || !worth {
		return "a cluster is put to sleep that is kept awake, or for a moment"
	}
	return ""
}

// Outside working hours it sleeps, and when they begin, or it is used, it is woken.
func restIsKept(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	asleep := n.SleepWanted && n.PowerBy == ByHours
	if asleep && f.Hours != nil && !f.Hours.Scheduled && n.Status == Ready && n.Desired == Present && len(f.Beside) == 0 {
		return "a cluster sleeps by a schedule that is no more"
	}
	if !ruled(n, f) || len(f.Beside) > 0 || c.Status != Ready {
		return ""
	}
	until, worth := keptAwake(n, f)
	opening := f.Hours.Opens.Add(-f.Hours.WakeAhead)
	switch {
	case asleep && (f.Hours.Open || until.After(f.Now)):
		return "a cluster sleeps that people work with"
	case asleep && !f.Hours.Opens.IsZero() && !f.Now.Before(opening):
		return "a cluster sleeps on when people are about to work with it"
	case asleep && !f.Hours.Opens.IsZero() && !n.SleepUntil.Equal(opening):
		return "a cluster is woken at another time than its schedule says"
	case !n.SleepWanted && !c.SleepWanted && worth && !f.Hours.Open && !until.After(f.Now):
		return "a cluster is awake outside working hours and nobody keeps it awake"
	}
	return ""
}

// A schedule that wakes a cluster earlier than the one before said keeps it awake for half an hour: servers with different catalogues do not turn it
// at each look.
func earlyWakeIsKept(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	if f.Hours == nil || !c.SleepWanted || c.PowerBy != ByHours || n.SleepWanted || n.Desired != Present || n.Status != Ready || n.SleepMode == "" || f.Open == nil && f.Last != nil && f.Last.Number > seenOf(c, f.Last) {
		return ""
	}
	early := c.SleepUntil.IsZero() || f.Now.Before(c.SleepUntil)
	until := f.Now
	for _, at := range []time.Time{n.AwakeUntil, after(n.ActiveAt, f.Hours.AwakeFor), after(n.ReadyAt, f.Hours.AwakeFor)} {
		if at.After(until) {
			until = at
		}
	}
	if early && (!f.Hours.Scheduled || f.Hours.Open) && until.Before(f.Now.Add(30*time.Minute)) {
		return "a cluster that one schedule woke can be put to sleep by another at once"
	}
	return ""
}

// Rule 2 of schedules: one that could not be looked at puts nothing to sleep and wakes nothing.
func unknownHoursDecideNothing(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	late := !c.SleepUntil.IsZero() && !f.Now.Before(c.SleepUntil)
	settled := f.Open == nil && f.Last != nil && f.Last.Number > seenOf(c, f.Last) // it may have failed
	if f.Hours == nil && c.PowerBy != ByIdle && c.SleepWanted && !n.SleepWanted && !late && !settled && n.Desired == Present && c.SleepMode != "" && c.Status == Ready {
		return "a cluster is woken because nobody knows its schedule"
	}
	return ""
}

// A cluster that a schedule cannot put to sleep is left alone until the next working hours.
func restIsGivenUpForTheNight(_ *world, c Cluster, f Facts, d Decision) string {
	n, a := d.Next, f.Last
	if f.Open != nil || a == nil || a.Number <= seenOf(c, a) || a.Kind != Sleep || a.Outcome == Stopped || a.Outcome == Cancelled || a.Outcome == Succeeded ||
		!c.SleepWanted || c.PowerBy != ByHours || n.Desired != Present || n.Status != Ready {
		return ""
	}
	until := c.SleepUntil
	if f.Hours != nil && !f.Hours.Opens.IsZero() && f.Hours.Opens.Before(until) { // the schedule changed meanwhile
		until = f.Hours.Opens
	}
	if f.Hours != nil && f.Hours.Open {
		until = f.Now
	}
	if over := c.Work[Sleep].Failures+1 >= workTries || a.Outcome == Failure && !a.Retryable; over && n.AwakeUntil.Before(until) {
		return "a cluster that does not fall asleep is put to sleep all night long"
	}
	return ""
}

// No schedule wakes what a person put to sleep, and none takes it over.
func aPersonsSleepStays(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	late := !c.SleepUntil.IsZero() && !f.Now.Before(c.SleepUntil)
	theirs := c.SleepWanted && c.PowerBy == ByPerson && n.Desired == Present && c.SleepMode != "" && c.Status == Ready
	settled := f.Open == nil && f.Last != nil && f.Last.Number > seenOf(c, f.Last) // it may have failed
	switch {
	case theirs && n.SleepWanted && n.PowerBy != ByPerson && !late:
		return "a schedule took over a person's request to sleep"
	case theirs && !n.SleepWanted && !late && !settled:
		return "a schedule woke what a person put to sleep"
	}
	return ""
}

// Rule 8 of schedules: whoever keeps hours is looked at when they change.
func hoursAreLookedAt(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	if !ruled(n, f) {
		return ""
	}
	until, worth := keptAwake(n, f)
	for _, at := range []time.Time{f.Hours.Closes, f.Hours.Opens} {
		if at.After(f.Now) && n.WakeAt.After(at) {
			return "nobody looks when working hours begin or end"
		}
	}
	if worth && !n.SleepWanted && until.After(f.Now) && n.WakeAt.After(until) {
		return "nobody looks when a cluster is to fall asleep"
	}
	return ""
}

// People are told the time at which a cluster falls asleep next, and no other.
func nextRestIsTold(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	switch {
	case n.Status != Ready || n.Desired != Present || !n.OffHours:
		if !n.RestAt.IsZero() {
			return "a cluster is said to fall asleep that has no nights"
		}
		return ""
	case f.Hours == nil:
		if !n.RestAt.Equal(c.RestAt) {
			return "a cluster is said to fall asleep at another time although nobody knows its schedule"
		}
		return ""
	}
	var want time.Time
	if ruled(n, f) && !n.SleepWanted && (!f.Hours.Open || !f.Hours.Closes.IsZero()) {
		if until, worth := keptAwake(n, f); worth && until.After(f.Now) {
			want = until
		}
	}
	if !n.RestAt.Equal(want) {
		return "a cluster is said to fall asleep at another time than it does"
	}
	return ""
}

// Rule 12 of schedules: its people are warned before a cluster is put to sleep, once for each time at which it is.
func restIsWarnedOf(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	if d.WarnRest && c.RestWarned.Equal(n.RestWarned) {
		return "people were warned twice of one time to fall asleep"
	}
	if d.WarnRest != !c.RestWarned.Equal(n.RestWarned) {
		return "a warning is noted that nobody gave"
	}
	if d.WarnRest && !ruled(n, f) {
		return "people are warned of a schedule that does not apply"
	}
	if !ruled(n, f) || n.SleepWanted {
		return ""
	}
	until, worth := keptAwake(n, f)
	if due := worth && until.After(f.Now) && !f.Now.Before(until.Add(-restWarning)); due != n.RestWarned.Equal(until) && (due || d.WarnRest) {
		return "people are not warned before a cluster falls asleep"
	}
	return ""
}
