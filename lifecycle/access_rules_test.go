package lifecycle

// Rule 4 of access: it changes in a ready cluster that is wanted, beside no other attempt, and the cluster stays ready meanwhile.
func accessIsOfReady(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	changing := d.Open == Access || f.Open != nil && f.Open.Kind == Access
	switch {
	case d.Open == Access && (n.Status != Ready || n.Desired != Present || f.Open != nil):
		return "access changes in a cluster that is not ready, or not wanted"
	case changing && n.Desired == Present && n.Status != Ready:
		return "a cluster whose access changes is not ready"
	}
	return ""
}

// owed counts afresh, by nothing that Decide uses.
func owed(c Cluster, f Facts) int {
	if c.Work[Access].Wanted > c.Work[Access].Done {
		return f.Access.Give + f.Access.Take
	}
	return f.Access.Take
}

// A runner starts because something is owed, and not before a pause after a failure is over.
func accessIsOwed(_ *world, _ Cluster, f Facts, d Decision) string {
	switch n := d.Next; {
	case d.Open != Access:
		return ""
	case d.OpenJob != JobAccess || owed(n, f) == 0:
		return "a runner changes access and nothing is owed"
	case f.Now.Before(n.Work[Access].RetryAt):
		return "a change of access that failed is tried again without a pause"
	}
	return ""
}

// A change of access is done when the rows show it, and not because a runner says so. It is never forgotten while its job goes on.
func accessIsDoneWhenSeen(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	done, over := false, false
	for _, j := range d.Jobs {
		done = done || j.Type == JobAccess && j.To == JobSucceeded
		over = over || j.Type == JobAccess && (j.To != JobPending && j.To != JobRunning)
	}
	switch {
	case n.Work[Access].Done < c.Work[Access].Done || n.Work[Access].Done > n.Work[Access].Wanted || n.Work[Access].Wanted != c.Work[Access].Wanted:
		return "a request for access is counted that nobody made, or twice"
	case done && owed(c, f) > 0:
		return "access is told to be changed and the rows do not show it"
	case n.Work[Access].Done != c.Work[Access].Done && !over:
		return "a request for access was forgotten and its job goes on"
	case n.Desired == Present && n.Status == Ready && f.Open == nil && len(f.Beside) == 0 && owed(n, f) == 0 && n.Work[Access].Done != n.Work[Access].Wanted:
		return "access that is as it should be is still wanted"
	}
	return ""
}

// What was asked for is given up after three failures in a row, or one that no retry can repair; not earlier, and not if another request
// came meanwhile.
func accessIsGivenUp(_ *world, c Cluster, f Facts, d Decision) string {
	n, a := d.Next, f.Last
	failed := f.Open == nil && a != nil && a.Kind == Access && a.Number > seenOf(c, a) && n.Desired == Present && owed(c, f) > 0 &&
		a.Outcome != Stopped && a.Outcome != Cancelled
	hopeless := failed && a.Outcome == Failure && !a.Retryable
	switch {
	case (f.Open == nil && n.Phase == Restoring || n.Phase == Released) && (n.Work[Access].Wanted != n.Work[Access].Done || n.Work[Access].Failures > 0):
		return "access is wanted to a cluster that goes"
	case n.Work[Access].Failures >= workTries && n.Work[Access].Wanted > n.Work[Access].Done:
		return "access that fails is tried for ever"
	case n.Desired == Present && owed(c, f) > 0 && n.Work[Access].Done > c.Work[Access].Done && !failed:
		return "access was given up though nothing failed"
	case failed && a.Request < c.Work[Access].Wanted && n.Work[Access].Done > c.Work[Access].Done:
		return "a request that came while an older one failed was given up with it"
	case failed && !hopeless && a.Request == c.Work[Access].Wanted && c.Work[Access].Failures+1 < workTries && n.Work[Access].Done > c.Work[Access].Done:
		return "access was given up too early"
	case failed && a.Request == c.Work[Access].Wanted && n.Work[Access].Wanted > n.Work[Access].Done && n.Work[Access].Failures != c.Work[Access].Failures+1:
		return "a change of access that failed counts for nothing"
	case hopeless && a.Request == c.Work[Access].Wanted && n.Work[Access].Wanted > n.Work[Access].Done:
		return "access is tried again though no retry can repair it"
	}
	return ""
}

// Rule 8 of revoking: it goes on for as long as the cluster does, and the next attempt is never far.
func revokingGoesOn(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	if n.SleepMode == SleepStopped && n.Power != Awake { // nobody reaches it, and its runner neither
		return ""
	}
	if f.Access.Take == 0 || f.Open != nil || n.Status != Ready || n.Desired != Present || len(f.Beside) > 0 || d.Wait != nil {
		return ""
	}
	switch next := n.Work[Access].RetryAt; {
	case d.Open == Access:
		return ""
	case !next.After(f.Now):
		return "something has to be revoked and nobody does it"
	case next.After(f.Now.Add(accessRetryMost)):
		return "something has to be revoked and the next attempt is far"
	}
	return ""
}

// Rule 9 of access: a change of access takes seconds and moves nothing that people are shown.
func accessIsQuiet(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	begins := d.Open == Access && c.Status == Ready && (f.Last == nil || f.Last.Number <= seenOf(c, f.Last))
	runs := f.Open != nil && isQuiet(f.Open.Kind) && f.Trouble.Code == ""
	if !begins && !runs || n.Desired != Present || c.Position > 0 {
		return ""
	}
	switch {
	case n.Progress != Progress{}:
		return "a change of access, or a look inside, shows progress"
	case n.Phase == c.Phase && n.Why != c.Why && n.Phase != Expiring:
		return "a change of access, or a look inside, changes the message"
	}
	return ""
}
