package lifecycle

import "time"

// Seen is what the clouds showed at one moment, grouped by owner. What could not be queried is missing, and a missing group proves
// nothing.
type Seen struct {
	At     time.Time
	Groups []Group
}

// Group is every resource seen in one account and region under one identity.
type Group struct {
	Account, Region string
	Installation    string    // the InstallationId tag: which installation of ocpctl made it; empty: untagged
	Cluster         string    // the ClusterId tag; empty: untagged
	Identity        string    // the infraID or ccoctl name; empty: unknown
	Resources       []string  // ARNs, or type and id
	FirstSeen       time.Time // when ocpctl first saw it, not the cloud's creation date
	Sights          int       // passes in a row that saw it, including this one
}

// Known is what the store holds at that moment, including released clusters.
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

// SweepLimits are the settings of a sweep. All are configuration; zero has no special meaning.
type SweepLimits struct {
	MinAge     time.Duration // since ocpctl first saw it, before something without an owner is an orphan
	MinSights  int           // passes in a row it must have been seen in: 2 or more
	EndMargin  time.Duration // past destroy_at, before a cluster that is not being destroyed is overdue
	WakeMargin time.Duration // past its wake-up time, before a cluster that nobody processed is stuck
	StillFor   time.Duration // without a change while it is created or destroyed, before it is stuck
}

// FindingKind names a kind of problem.
type FindingKind string

// The kinds of finding.
const (
	Orphan  FindingKind = "orphan"  // resources that belong to no living cluster
	Overdue FindingKind = "overdue" // past its end and not being destroyed
	Stuck   FindingKind = "stuck"   // not processed when due, or without progress
	Blocked FindingKind = "blocked" // its teardown needs a person
	Remains FindingKind = "remains" // destroyed, but its objects in the bucket could not be deleted

	FailingDelivery FindingKind = "delivery_failing" // a delivery has been failing for minutes
	FailedJob       FindingKind = "job_failed"       // a queue job used up its tries

	AccessNotRevoked FindingKind = "access_not_revoked" // a ready cluster still has the account of access that ended

	SlackChannel FindingKind = "slack_channel" // messages wait for a channel of Slack in which the bot cannot write
	SlackRefused FindingKind = "slack_refused" // messages wait for a workspace of Slack that refuses the bot
)

// Finding is a problem that a person should know about. It never deletes anything: only destroy attempts delete.
type Finding struct {
	Kind     FindingKind
	Cluster  string    // id; empty if no cluster is known
	Identity string    // of an orphan
	Since    time.Time // since when, by ocpctl's clock
	Why      string    // reason, for people
	Evidence []string  // resources, or what the last verification still counted
}
