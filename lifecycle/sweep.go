package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sweep compares what was seen with what is known and returns findings with evidence, never deletions. Equal input gives equal
// findings in the same order.
func Sweep(s Seen, k Known, l SweepLimits) []Finding {
	var found []Finding
	byID, byName := map[string]*KnownCluster{}, map[string]*KnownCluster{}
	for i := range k.Clusters {
		c := &k.Clusters[i]
		byID[c.ID] = c
		for _, name := range c.Identities {
			byName[name] = c
		}
		if c.Phase != Released {
			found = append(found, c.troubles(k.Now, l)...)
		}
	}
	for _, g := range s.Groups {
		foreign := g.Installation != "" && g.Installation != k.Installation
		if foreign || g.Sights < l.MinSights || s.At.Sub(g.FirstSeen) < l.MinAge {
			continue
		}
		if why, cluster := g.orphaned(byID, byName); why != "" {
			found = append(found, Finding{Orphan, cluster, g.Identity, g.FirstSeen, why, g.Resources})
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Cluster, b.Cluster), strings.Compare(a.Identity, b.Identity))
	})
	return found
}

// orphaned says why no living cluster owns the group; empty if one does.
func (g Group) orphaned(byID, byName map[string]*KnownCluster) (why, cluster string) {
	owner, recorded := byName[g.Identity], g.Identity != ""
	switch {
	case owner == nil && byID[g.Cluster] == nil:
		return "it belongs to no known cluster", ""
	case owner == nil && byID[g.Cluster].Phase != Released && recorded:
		return "tagged with a live cluster that never recorded this name, so its teardown would not find it", g.Cluster
	case owner == nil:
		owner = byID[g.Cluster]
	}
	if owner.Phase == Released && g.FirstSeen.After(owner.ReleasedAt) {
		return "it appeared after its cluster was destroyed", owner.ID
	}
	if owner.Phase == Released {
		return "its cluster was destroyed and the final count was zero, but it still exists", owner.ID
	}
	return "", ""
}

// troubles returns what is wrong with a living cluster, judged by its row alone.
func (c KnownCluster) troubles(now time.Time, l SweepLimits) (found []Finding) {
	say := func(k FindingKind, since time.Time, evidence []string, format string, args ...any) {
		found = append(found, Finding{k, c.ID, "", since, fmt.Sprintf(format, args...), evidence})
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
	case c.Status == Ready && c.Phase == Waking && c.SleepFailures >= sleepTries:
		say(Stuck, c.MovedAt, nil, "%s was woken %d times and is not awake: %s", c.Name, c.SleepFailures, c.Why)
	}
	if f, blocked := c.BlockedTeardown(); blocked {
		found = append(found, f)
	}
	return found
}

// BlockedTeardown returns the finding for a blocked teardown: what is still there, and when the next try is.
func (c KnownCluster) BlockedTeardown() (f Finding, blocked bool) {
	if c.Phase != DestroyBlocked && c.Phase != Abandoned {
		return Finding{}, false
	}
	return Finding{Kind: Blocked, Cluster: c.ID, Since: c.MovedAt, Why: c.Why, Evidence: c.Blockers}, true
}
