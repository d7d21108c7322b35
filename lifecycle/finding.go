package lifecycle

import "time"

// Seen is what the clouds showed at one moment, grouped by who it belongs to. What could not be asked is not in it,
// and nothing is concluded from a group that is missing.
type Seen struct {
	At     time.Time
	Groups []Group
}

// Group is every resource seen in one account and region under one identity.
type Group struct {
	Account, Region string
	Installation    string    // the InstallationId tag: whose control plane made it; empty: untagged
	Cluster         string    // the ClusterId tag; empty: untagged
	Identity        string    // the infraID or ccoctl name; empty: not to be told
	Resources       []string  // ARNs or type and id
	FirstSeen       time.Time // our own first sight of it, not the cloud's date of creation
	Sights          int       // passes in a row that saw it, this one included
}

// Known is what the store holds at that moment, released clusters included.
type Known struct {
	Now          time.Time // the database's clock
	Installation string
	Clusters     []KnownCluster
}

// KnownCluster is one row as a sweep reads it.
type KnownCluster struct {
	Cluster
	Name       string
	Identities []string  // every infraID and ccoctl name ever recorded
	MovedAt    time.Time // the last change of phase or progress
}

// SweepLimits are the settings of a sweep. All are configuration; none has a meaning of zero.
type SweepLimits struct {
	MinAge     time.Duration // since our first sight, before something without an owner is an orphan
	MinSights  int           // passes in a row it must have been seen in: 2 or more
	EndMargin  time.Duration // past destroy_at, before a cluster that is not going is overdue
	WakeMargin time.Duration // past its wake-up time, before a cluster nobody looked at is stuck
	StillFor   time.Duration // without a move while it is made or torn down, before it is stuck
}

// FindingKind names what is not as it should be.
type FindingKind string

// The kinds of finding.
const (
	Orphan  FindingKind = "orphan"  // resources that no living cluster answers for
	Overdue FindingKind = "overdue" // past its end and not going
	Stuck   FindingKind = "stuck"   // nobody looks, or nothing moves
	Blocked FindingKind = "blocked" // its teardown waits for a person
	Remains FindingKind = "remains" // it is gone, and what the bucket has of it could not be deleted

	FailingDelivery FindingKind = "delivery_failing" // a delivery has been failing for minutes
	FailedJob       FindingKind = "job_failed"       // a queue job used up its tries
)

// Finding is something a person should know. It deletes nothing: deleting is a destroy attempt's work alone.
type Finding struct {
	Kind     FindingKind
	Cluster  string    // id; empty where no cluster is known
	Identity string    // of an orphan
	Since    time.Time // since when it is so, by our own clock
	Why      string    // in words for people
	Evidence []string  // resources, or what the last verification still counted
}
