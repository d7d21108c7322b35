package lifecycle

// Rule 4 of sleep: only a ready cluster that is wanted is put to sleep or woken, beside no other attempt, and it stays READY. While it
// sleeps nothing else is done in it, but that a cluster without workers can be reached and its access changes.
func sleepIsOfReady(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	power := d.Open == Sleep || d.Open == Wake
	running := f.Open != nil && (f.Open.Kind == Sleep || f.Open.Kind == Wake)
	switch {
	case power && (n.Status != Ready || n.Desired != Present || f.Open != nil):
		return "a cluster is put to sleep or woken that is not ready, or not wanted"
	case running && n.Desired == Present && n.Status != Ready:
		return "a cluster that goes to sleep or wakes up is not ready"
	case (d.Open == Scale || d.Open == Configure) && (n.Power != Awake || n.SleepWanted):
		return "a cluster that sleeps is scaled or configured"
	case d.Open == Access && n.SleepMode == SleepStopped && n.Power != Awake:
		return "access changes in a cluster whose machines are stopped"
	}
	return ""
}

// A runner starts because the cluster is not as it should be, and not before a pause after a failure is over.
func powerIsAsked(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	switch {
	case d.Open == Sleep && (!n.SleepWanted || n.SleepMode == "" || d.OpenJob != map[PowerBy]JobType{ByPerson: JobSleep, ByHours: JobOffHoursDown, ByIdle: JobSleep}[n.PowerBy]):
		return "a cluster is put to sleep that should be awake, or cannot sleep"
	case d.Open == Wake && (n.SleepWanted || d.OpenJob != map[PowerBy]JobType{ByPerson: JobWake, ByHours: JobOffHoursUp, ByIdle: JobWake}[n.PowerBy]):
		return "a cluster is woken that should be asleep"
	case (d.Open == Sleep || d.Open == Wake) && n.Power != Changing:
		return "a change of power begins and its row does not say so"
	case (d.Open == Sleep || d.Open == Wake) && f.Now.Before(n.Work[d.Open].RetryAt):
		return "a change of power that failed is tried again without a pause"
	}
	return ""
}

// A cluster is asleep, or awake again, when a runner saw it, and never because one says that it succeeded. One that a runner saw awake after it
// could not put it to sleep is awake, and is not woken.
func powerIsSeen(_ *world, c Cluster, f Facts, d Decision) string {
	n, a := d.Next, f.Last
	told := f.Open == nil && a != nil && a.Number > seenOf(c, a) && a.AsleepSeen != nil
	fresh := told && a.Outcome == Succeeded
	stayed := told && a.Kind == Sleep && a.Outcome == Failure && !*a.AsleepSeen
	switch {
	case stayed && (n.Power != Awake || d.Open == Wake) && d.Open != Sleep:
		return "a cluster that was never put to sleep counts as anything but awake"
	case n.Power == c.Power:
	case n.Power == Awake && stayed:
	case n.Power == Changing && (d.Open == Sleep || d.Open == Wake):
	case n.Power == Asleep && (!fresh || a.Kind != Sleep || !*a.AsleepSeen):
		return "a cluster counts as asleep that nobody saw asleep"
	case n.Power == Awake && (!fresh || a.Kind != Wake || *a.AsleepSeen):
		return "a cluster counts as awake that nobody saw awake"
	case n.Power == Changing:
		return "a change of power is noted and nobody makes it"
	}
	return ""
}

// Sleep ends: on time, on request, with the cluster, and after three failures to fall asleep. What is dropped is told in its job.
func sleepEnds(_ *world, c Cluster, f Facts, d Decision) string {
	n, a := d.Next, f.Last
	over := false
	for _, j := range d.Jobs {
		over = over || (j.Type == JobSleep || j.Type == JobOffHoursDown) && j.To == JobFailed
	}
	failed := f.Open == nil && a != nil && a.Kind == Sleep && a.Number > seenOf(c, a) && n.Desired == Present && c.SleepWanted && a.Outcome != Stopped &&
		a.Outcome != Cancelled && n.Power != Asleep
	late := !c.SleepUntil.IsZero() && !f.Now.Before(c.SleepUntil)
	switch {
	case n.SleepWanted && !c.SleepWanted && n.PowerBy == ByPerson:
		return "a cluster is put to sleep that nobody put to sleep"
	case n.SleepWanted && late && n.SleepUntil.Equal(c.SleepUntil) && n.Desired == Present && n.Status == Ready && len(f.Beside) == 0:
		return "its time to sleep is over and it sleeps on"
	case c.SleepWanted && !n.SleepWanted && !over:
		return "a request to sleep was forgotten and its job goes on"
	case n.SleepWanted && (n.Work[Sleep].Failures >= 3 || n.Phase == Restoring || n.Phase == Released):
		return "sleep that fails, or of a cluster that goes, is tried for ever"
	case failed && !late && a.Outcome != Failure && c.Work[Sleep].Failures+1 < 3 && !n.SleepWanted && n.SleepMode != "" && !restOver(c, n, f) && !idleOver(c, n, f):
		return "sleep was given up too early"
	case failed && n.SleepWanted && n.Work[Sleep].Failures != c.Work[Sleep].Failures+1:
		return "a try to sleep that failed counts for nothing"
	case failed && a.Outcome == Failure && !a.Retryable && n.SleepWanted:
		return "sleep is tried again though no retry can repair it"
	}
	return ""
}

// Rule 8 of waking: it goes on for as long as the cluster does, and the next attempt is never far.
func wakingGoesOn(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	if n.SleepWanted || n.Power == Awake || f.Open != nil || n.Status != Ready || n.Desired != Present || len(f.Beside) > 0 || d.Wait != nil || d.Open != "" {
		return ""
	}
	switch {
	case !n.Work[Wake].RetryAt.After(f.Now):
		return "a cluster should be awake and nobody wakes it"
	case n.Work[Wake].RetryAt.After(f.Now.Add(wakeRetryMost)):
		return "a cluster should be awake and the next attempt is far"
	}
	return ""
}

// Rule 9 of power: a ready cluster that sleeps, or is on its way, shows that and nothing else, so that nobody takes it for usable.
func powerIsShown(_ *world, _ Cluster, _ Facts, d Decision) string {
	n := d.Next
	if n.Status != Ready || n.Desired != Present {
		return ""
	}
	want := Phase("")
	switch {
	case n.SleepWanted && n.Power == Asleep:
		want = PhaseAsleep
	case n.SleepWanted:
		want = GoingToSleep
	case n.Power != Awake:
		want = Waking
	}
	usual := n.Phase == PhaseReady || n.Phase == ScaledDown || n.Phase == Degraded
	if want == "" && usual && (n.Phase == Degraded) != (n.Degraded != "") {
		return "a cluster whose control plane lacks something does not show it, or one shows it that lacks nothing"
	}
	shows := n.Phase == GoingToSleep || n.Phase == PhaseAsleep || n.Phase == Waking
	if want != "" && n.Phase != want || want == "" && shows {
		return "a cluster with power " + string(n.Power) + " shows " + string(n.Phase)
	}
	return ""
}
