package lifecycle

// Rule 4 of add-ons: they are brought to a ready cluster that is wanted, beside nothing else, and it stays ready meanwhile.
func addonsAreOfReady(_ *world, c Cluster, f Facts, d Decision) string {
	n := d.Next
	came := f.Open == nil && f.Last != nil && f.Last.Kind == Create && f.Last.Outcome == Succeeded && f.Last.Number > seenOf(c, f.Last)
	switch {
	case d.Open == Configure && (n.Status != Ready || n.Desired != Present || f.Open != nil):
		return "add-ons are brought to a cluster that is not ready, or not wanted"
	case came && n.Desired == Present && n.Status != Ready:
		return "an install that ended well without its add-ons is not ready"
	case f.Open != nil && f.Open.Kind == Configure && n.Desired == Present && n.Status != Ready:
		return "a cluster whose add-ons are brought anew is not ready"
	}
	return ""
}

// Add-ons are brought because somebody wants them, where there are any, and not before a pause after a failure is over.
func addonsAreWanted(_ *world, _ Cluster, f Facts, d Decision) string {
	n := d.Next
	if d.Open != Configure {
		return ""
	}
	switch {
	case len(n.Addons) == 0 || d.OpenJob != JobConfigure:
		return "add-ons are brought where there are none"
	case n.Work[Configure].Wanted <= n.Work[Configure].Done:
		return "add-ons are brought that nobody wants"
	case f.Now.Before(n.Work[Configure].RetryAt):
		return "add-ons that failed are tried again without a pause"
	}
	return ""
}

// The newest request is met: it is done when an attempt that was begun for it saw every add-on, and never before.
func theNewestRequestIsMet(_ *world, c Cluster, f Facts, d Decision) string {
	n, a := d.Next, f.Last
	done, got := false, false
	for _, j := range d.Jobs {
		done = done || j.Type == JobConfigure && j.To == JobSucceeded
		got = got || done || j.Type == JobConfigure && (j.To == JobFailed || j.To == JobRetrying)
	}
	fresh := f.Open == nil && a != nil && a.Number > seenOf(c, a)
	request := 0 // that the attempt is for: one to prepare a claimed cluster brings what it lacks
	switch {
	case fresh && a.Kind == Configure:
		request = a.Request
	case fresh && a.Kind == Prepare:
		request = c.Work[Configure].Wanted
	}
	seen := request > 0 && a.Outcome == Succeeded && a.AddonsSeen != nil && *a.AddonsSeen >= len(c.Addons)
	missing := fresh && a.Kind == Create && a.Outcome == Succeeded && len(c.Addons) > 0 && (a.AddonsSeen == nil || *a.AddonsSeen < len(c.Addons))
	switch {
	case done && (!seen || request != n.Work[Configure].Wanted):
		return "add-ons are told to be there and nobody saw them"
	case n.Work[Configure].Done < c.Work[Configure].Done || n.Work[Configure].Done > n.Work[Configure].Wanted:
		return "a request is counted that nobody had, or twice"
	case n.Work[Configure].Done != c.Work[Configure].Done && !got:
		return "a request for add-ons was forgotten and its job goes on"
	case seen && n.Desired == Present && c.Work[Configure].Wanted > c.Work[Configure].Done && n.Work[Configure].Done < request:
		return "add-ons that are there are brought again"
	case seen && n.Desired == Present && request < c.Work[Configure].Wanted && n.Work[Configure].Done >= c.Work[Configure].Wanted:
		return "a request that came while an older one was met was forgotten"
	case missing && n.Desired == Present && n.Work[Configure].Wanted != c.Work[Configure].Wanted+1:
		return "what a create did not bring is not brought"
	case !missing && n.Work[Configure].Wanted != c.Work[Configure].Wanted:
		return "add-ons are wanted by nobody"
	}
	return ""
}

// Trying ends: after three failures in a row nothing is wanted any more, and nobody wants add-ons of a cluster that goes.
func addonsEnd(_ *world, c Cluster, f Facts, d Decision) string {
	n, a := d.Next, f.Last
	owed := n.Work[Configure].Wanted > n.Work[Configure].Done
	switch {
	case n.Work[Configure].Failures >= 3 || n.Work[Configure].Failures > 0 && !owed:
		return "add-ons that fail are tried for ever"
	case owed && (n.Phase == Restoring || n.Phase == Released):
		return "add-ons are wanted of a cluster that goes"
	case f.Open != nil || a == nil || a.Kind != Configure || a.Number <= seenOf(c, a) || c.Work[Configure].Wanted <= c.Work[Configure].Done || n.Desired == Absent:
		return ""
	case a.Request != c.Work[Configure].Wanted || a.Outcome == Succeeded && a.AddonsSeen != nil && *a.AddonsSeen >= len(c.Addons):
		return ""
	case owed && d.Open == "" && !n.Work[Configure].RetryAt.After(f.Now):
		return "add-ons that failed are tried again without a pause"
	case owed && a.Outcome != Stopped && a.Outcome != Cancelled && n.Work[Configure].Failures != c.Work[Configure].Failures+1:
		return "add-ons that failed count for nothing"
	case owed && a.Outcome == Failure && !a.Retryable:
		return "add-ons are tried again though no retry can mend it"
	}
	return ""
}
