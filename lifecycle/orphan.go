package lifecycle

// OrphanClass says whose a group of resources is.
type OrphanClass string

// The classes of a group.
const (
	ClassLive       OrphanClass = "live"       // of a living cluster of ours: no orphan
	ClassReleased   OrphanClass = "released"   // of a cluster of ours that was called destroyed: a leak
	ClassUnrecorded OrphanClass = "unrecorded" // tagged with a cluster of ours that never recorded this name
	ClassUnknown    OrphanClass = "unknown"    // tagged with our installation, of a cluster that is not in the database
	ClassForeign    OrphanClass = "foreign"    // of another installation: listed, never touched
	ClassOwned      OrphanClass = "owned"      // without an installation, with a person's or a cluster's mark
	ClassNobody     OrphanClass = "nobody"     // without any mark
)

// OrphanClasses lists the classes of orphans, the most certain first.
var OrphanClasses = []OrphanClass{ClassReleased, ClassUnrecorded, ClassUnknown, ClassOwned, ClassNobody, ClassForeign}

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
