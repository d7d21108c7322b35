package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Judged says whose a group is.
type Judged struct {
	Group
	Class OrphanClass
	Of    *KnownCluster // the known cluster that it is or was of; nil: none
	Why   string        // for people; empty: it is no orphan
}

// Judge says of each group that was seen whose it is, in the same order. It decides nothing about it: see KnownOrphan.Next.
func Judge(s Seen, k Known) []Judged {
	w := whose{installation: k.Installation, byID: map[string]*KnownCluster{}, byName: map[string]*KnownCluster{}, byDomain: map[string]*KnownCluster{}}
	for i := range k.Clusters {
		w.add(&k.Clusters[i])
	}
	out := make([]Judged, 0, len(s.Groups))
	for _, g := range s.Groups {
		class, of, why := w.judge(g)
		out = append(out, Judged{g, class, of, why}.withoutCounted())
	}
	return out
}

// Troubles returns findings about living clusters, judged by their rows alone. Equal input gives equal findings in the same order.
func Troubles(k Known, l FindingLimits) []Finding {
	var found []Finding
	for _, c := range k.Clusters {
		if c.Phase != Released {
			found = append(found, c.troubles(k.Now, l)...)
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Cluster, b.Cluster))
	})
	return found
}

// troubles returns what is wrong with a living cluster, judged by its row alone.
func (c KnownCluster) troubles(now time.Time, l FindingLimits) (found []Finding) {
	say := func(k FindingKind, since time.Time, evidence []string, format string, args ...any) {
		found = append(found, Finding{Kind: k, Cluster: c.ID, Since: since, Why: fmt.Sprintf(format, args...), Evidence: evidence})
	}
	end, going := c.Ends.DestroyAt(), c.Desired == Absent && (c.Status == Destroying || c.Status == Failed)
	if !going && now.Sub(end) >= l.EndMargin {
		say(Overdue, end, nil, "%s should have ended (%s) but is still %s", c.Name, c.Ends.Reason(), c.Status)
	}
	moving := c.Status == Creating || c.Status == Destroying
	switch {
	case now.Sub(c.WakeAt) >= l.WakeMargin: // a zero wake-up time counts as due since for ever
		say(Stuck, c.WakeAt, nil, "%s was not reconciled when it was due", c.Name)
	case moving && now.Sub(c.MovedAt) >= l.StillFor:
		say(Stuck, c.MovedAt, nil, "%s is stuck in phase %s", c.Name, c.Phase)
	case c.Status == Ready && c.Phase == Waking && c.Work[Wake].Failures >= workTries:
		say(Stuck, c.MovedAt, nil, "%s was woken %d times and is not awake: %s", c.Name, c.Work[Wake].Failures, c.Why)
	}
	if f, blocked := c.BlockedTeardown(); blocked {
		found = append(found, f)
	}
	return found
}

// BlockedTeardown returns the finding for a blocked teardown: what is still there, and when the next attempt is.
func (c KnownCluster) BlockedTeardown() (f Finding, blocked bool) {
	if c.Phase != DestroyBlocked && c.Phase != Abandoned {
		return Finding{}, false
	}
	return Finding{Kind: Blocked, Cluster: c.ID, Since: c.MovedAt, Why: c.Why.String(), Evidence: DescribeBlockers(c.Blockers)}, true
}
