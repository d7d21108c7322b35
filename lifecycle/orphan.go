package lifecycle

import (
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// OrphanClass says whose a group of resources is.
type OrphanClass string

// The classes of a group.
const (
	ClassLive       OrphanClass = "live"       // of a living cluster of ours: no orphan
	ClassCounted    OrphanClass = "counted"    // of a destroyed cluster, and not seen since its final count found nothing: no orphan
	ClassReleased   OrphanClass = "released"   // of a cluster of ours that was called destroyed: a leak
	ClassUnrecorded OrphanClass = "unrecorded" // tagged with a cluster of ours that never recorded this name
	ClassUnknown    OrphanClass = "unknown"    // tagged with our installation, of a cluster that is not in the database
	ClassForeign    OrphanClass = "foreign"    // of another installation: listed, never touched
	ClassOwned      OrphanClass = "owned"      // without an installation, with a person's or a cluster's mark
	ClassNobody     OrphanClass = "nobody"     // without any mark
)

// OrphanClasses lists the classes of orphans, the most certain first.
var OrphanClasses = []OrphanClass{ClassReleased, ClassUnrecorded, ClassUnknown, ClassOwned, ClassNobody, ClassForeign}

// IsOrphan reports that a group of this class belongs to no living cluster and may still be there.
func (c OrphanClass) IsOrphan() bool { return c != ClassLive && c != ClassCounted }

// OrphanState says what is done about an orphan.
type OrphanState string

// The states of an orphan.
const (
	OrphanSeen     OrphanState = "seen"     // not seen often or long enough to be told
	OrphanReported OrphanState = "reported" // told; somebody has to decide
	OrphanExempt   OrphanState = "exempt"   // an administrator or the configuration says that it stays
	OrphanApproved OrphanState = "approved" // an administrator approved its removal
	OrphanRemoving OrphanState = "removing" // a teardown removes it
	OrphanGone     OrphanState = "gone"     // it is no longer there, or no longer an orphan
	OrphanKept     OrphanState = "kept"     // somebody's: told, never removed
)

// OrphanStates lists the states.
var OrphanStates = []OrphanState{OrphanSeen, OrphanReported, OrphanExempt, OrphanApproved, OrphanRemoving, OrphanGone, OrphanKept}

// KnownOrphan is what is stored of an orphan.
type KnownOrphan struct {
	Class      OrphanClass
	Since      time.Time // when a scan first saw it as an orphan, this time
	Sights     int       // scans in a row that saw it as an orphan
	State      OrphanState
	StateAt    time.Time
	StateWhy   string
	DecidedBy  string // principal id; empty: no person decided the state
	DecidedWhy string // the reason of the decision; empty: there was none
}

// Next returns the orphan after a scan that was judged at that time. The zero orphan is one that was never seen before. A group that is
// no orphan ends it.
func (o KnownOrphan) Next(j Judged, at time.Time, l FindingLimits) KnownOrphan {
	switch j.Class {
	case ClassCounted:
		return o.Gone(fmt.Sprintf("the final count of %s found nothing, and no scan has seen it since", j.Of.Name), at)
	case ClassLive:
		if o.State == OrphanRemoving { // its cluster lives again in order to remove it
			return o
		}
		return o.Gone(fmt.Sprintf("it belongs to the living cluster %s", j.Of.Name), at)
	}
	n := o
	if o.State == "" || o.State == OrphanGone {
		n = KnownOrphan{Since: at}
	}
	n.Class = j.Class
	switch {
	case j.Sights == 0:
		n.Sights = 0
	case j.Fresh:
		if n.Sights == 0 { // they begin anew
			n.Since = at
		}
		n.Sights++
	}
	old := at.Sub(n.Since) >= l.MinAge && n.Sights >= l.MinSights
	told := n.State != "" && n.State != OrphanSeen && n.State != OrphanExempt
	switch {
	case j.Class == ClassForeign:
		return n.become(OrphanKept, j.Why, at)
	case n.State == OrphanRemoving:
		return n
	case j.Exempt != "":
		return n.become(OrphanExempt, "the configuration exempts it: "+j.Exempt, at)
	case n.State == OrphanExempt && n.DecidedBy != "":
		return n
	case n.State == OrphanApproved && o.Class == j.Class:
		return n
	case !old && !told:
		return n.become(OrphanSeen, fmt.Sprintf("not confirmed yet; reported once %d scans in a row have seen it, %s after the first at the earliest", l.MinSights, duration.Format(l.MinAge)), at)
	case j.Class == ClassOwned:
		return n.become(OrphanKept, j.Why, at)
	}
	return n.become(OrphanReported, j.Why, at)
}

// Gone returns the orphan after nothing of it is left.
func (o KnownOrphan) Gone(why string, at time.Time) KnownOrphan { return o.become(OrphanGone, why, at) }

// become changes the state on nobody's decision. A state that stays keeps its time.
func (o KnownOrphan) become(state OrphanState, why string, at time.Time) KnownOrphan {
	if o.State != state {
		o.State, o.StateAt = state, at
	}
	o.StateWhy, o.DecidedBy, o.DecidedWhy = why, "", ""
	return o
}
