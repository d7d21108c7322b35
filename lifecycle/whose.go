package lifecycle

import (
	"cmp"
	"fmt"
	"strings"
)

// whose finds the cluster that a group belongs to.
type whose struct {
	installation           string
	byID, byName, byDomain map[string]*KnownCluster
}

// add adds a cluster. A living one has its domain before a destroyed one.
func (w whose) add(c *KnownCluster) {
	w.byID[c.ID] = c
	for _, name := range c.Identities {
		w.byName[name] = c
	}
	if other := w.byDomain[c.Domain]; c.Domain != "" && (other == nil || other.Phase == Released) {
		w.byDomain[c.Domain] = c
	}
}

// judge returns the class of a group. The order of the questions is what keeps others' resources safe: another installation's tag comes
// first, and a living cluster's claim before a destroyed one's.
func (w whose) judge(g Group) (class OrphanClass, of *KnownCluster, why string) {
	named, tagged := w.findNamed(g), w.byID[g.Cluster]
	if g.Installation != "" && !w.isOurs(g.Installation, named, tagged) {
		return ClassForeign, nil, fmt.Sprintf("it belongs to the installation %s, which looks after it", g.Installation)
	}
	switch {
	case named.isLiving():
		return ClassLive, named, ""
	case tagged.isLiving() && g.Identity == "":
		return ClassLive, tagged, ""
	case tagged.isLiving():
		return ClassUnrecorded, tagged, "tagged with a live cluster that never recorded this name, so its teardown would not find it"
	case named != nil && named.Phase == Released:
		return ClassReleased, named, stillListed
	case tagged != nil && g.Identity == "" && g.Installation == "":
		return ClassUnrecorded, tagged, "tagged with a destroyed cluster, but neither with this installation nor with a name that it recorded"
	case tagged != nil && g.Identity == "":
		return ClassReleased, tagged, stillListed
	case tagged != nil:
		return ClassUnrecorded, tagged, "tagged with a destroyed cluster that never recorded this name, so its teardown did not look for it"
	}
	return w.judgeUnknown(g)
}

const stillListed = "the cloud still lists it although its cluster was destroyed and the final count found nothing; clouds list deleted resources for a while"

// judgeUnknown returns the class of a group of which no cluster's id and no recorded name is known.
func (w whose) judgeUnknown(g Group) (class OrphanClass, of *KnownCluster, why string) {
	domain := w.byDomain[g.Domain]
	switch {
	case g.Installation != "" && g.Cluster != "":
		return ClassUnknown, nil, fmt.Sprintf("this installation's tag is on it, but the database has no cluster %s", g.Cluster)
	case g.Installation != "":
		return ClassUnknown, nil, "this installation's tag is on it, but no known cluster's id"
	case domain.isLiving():
		return ClassLive, domain, ""
	case domain != nil:
		return ClassNobody, domain, fmt.Sprintf("%s was the domain of %s, which was destroyed; something else may use the name now", g.Domain, domain.Name)
	case g.Owner != "":
		return ClassOwned, nil, fmt.Sprintf("tagged as %s's; it belongs to no cluster of ours", g.Owner)
	case g.Owners:
		return ClassOwned, nil, "no known cluster has it; its resources have the Owner tags of several people"
	case g.Marked || g.Cluster != "":
		return ClassOwned, nil, fmt.Sprintf("it has the mark of a cluster that is not known here: %s", cmp.Or(g.Identity, g.Cluster))
	}
	return ClassNobody, nil, "it looks like a part of a cluster, and nothing says whose"
}

// withoutCounted leaves out what was last seen before the final count of the destroyed cluster that the group was of: the count looked for it and
// did not find it. A scan takes hours, so a part of it can be older than a count that ends before the scan does. What the count did not look
// for, because no name of it was recorded, stays.
func (j Judged) withoutCounted() Judged {
	if j.Of == nil || j.Of.Phase != Released || j.Class != ClassReleased && j.Class != ClassNobody {
		return j
	}
	g := j.Group.withPartsSeenAfter(j.Of.ReleasedAt)
	if len(g.Parts) == 0 {
		j.Class, j.Why = ClassCounted, ""
		return j
	}
	j.Group = g
	return j
}

// findNamed returns the cluster that recorded the group's name. If several did, a living one comes first.
func (w whose) findNamed(g Group) (of *KnownCluster) {
	for name := range strings.SplitSeq(g.Identity, ",") {
		if c := w.byName[name]; c != nil && (of == nil || of.Phase == Released) {
			of = c
		}
	}
	return of
}

// isOurs reports that the tag is this installation's, or was when the cluster was accepted: an installation can be renamed.
func (w whose) isOurs(installation string, of ...*KnownCluster) bool {
	for _, c := range of {
		if c != nil && c.Installation == installation {
			return true
		}
	}
	return installation == w.installation
}

func (c *KnownCluster) isLiving() bool { return c != nil && c.Phase != Released }
