package lifecycle

import (
	"slices"
	"time"
)

// Seen is what a scan showed of one account, grouped by owner. A group that is missing proves nothing.
type Seen struct {
	At     time.Time
	Groups []Group
}

// Group is every resource of one account with the same owner, as its tags, its name or its place tell.
type Group struct {
	Platform, Account string
	Regions           []string // sorted
	Installation      string   // the InstallationId tag: which installation of ocpctl made it; empty: untagged
	Cluster           string   // the ClusterId tag; empty: untagged
	Identity          string   // infraID or ccoctl name; several, with commas between them, if its resources have marks of several; empty: unknown
	Place             string   // without any of these: what it is in, or the resource itself
	Domain            string   // without any of these: the cluster's domain, as its DNS records tell
	Marked            bool     // one of its resources has a cluster's tag
	Managed           bool     // those of its resources that have tags have ocpctl's ManagedBy and this ClusterId
	Name, Owner, Team string   // as tagged; empty: untagged, or its resources' tags differ
	Owners            bool     // its resources have the Owner tags of several people
	Parts             []Part   // its resources, one by one; the next fields sum them up
	Resources         []string // ids: ARNs, or type and id
	HourlyCents       *float64 // of the resources whose price is known; nil: of none
	Unpriced          int      // resources whose price is unknown
	Exempt            string   // the rule that says that it stays; empty: none
	Sights            int      // scans in a row that saw something of it; 0: the newest that looked did not
	Fresh             bool     // this scan saw something of it
	Untagged          []string // those of the resources that a runner tags afterwards, and that lack ocpctl's ManagedBy or any ClusterId
}

// Part is one resource of a group.
type Part struct {
	ID          string
	Region      string // empty: of no region
	SeenAt      time.Time
	HourlyCents *float64 // nil: its price is unknown
	Sights      int      // scans in a row that saw it; 0: the newest that looked did not
	Fresh       bool     // this scan saw it
}

// SetParts makes the group consist of these resources, and sums them up.
func (g *Group) SetParts(parts []Part) {
	g.Parts, g.Regions, g.Resources, g.HourlyCents, g.Unpriced, g.Sights, g.Fresh = parts, []string{}, nil, nil, 0, 0, false
	for _, p := range parts {
		g.Resources = append(g.Resources, p.ID)
		if p.Region != "" && !slices.Contains(g.Regions, p.Region) {
			g.Regions = append(g.Regions, p.Region)
		}
		switch {
		case p.HourlyCents == nil:
			g.Unpriced++
		case g.HourlyCents == nil:
			g.HourlyCents = new(*p.HourlyCents)
		default:
			*g.HourlyCents += *p.HourlyCents
		}
		g.Sights, g.Fresh = max(g.Sights, p.Sights), g.Fresh || p.Fresh
	}
	slices.Sort(g.Resources)
	slices.Sort(g.Regions)
}

// withPartsSeenAfter returns the group without what was last seen at that time or before.
func (g Group) withPartsSeenAfter(at time.Time) Group {
	g.SetParts(slices.DeleteFunc(slices.Clone(g.Parts), func(p Part) bool { return !p.SeenAt.After(at) }))
	return g
}

// Known is what the store holds at that moment, including released clusters.
type Known struct {
	Now          time.Time // the database's clock
	Installation string
	Clusters     []KnownCluster
}

// KnownCluster is one row as Troubles and Judge read it.
type KnownCluster struct {
	Cluster
	Name, Domain string
	Installation string // its InstallationId tag, from when it was accepted; empty: the installation's
	Owner, Team  string
	Identities   []string  // every infraID and ccoctl name ever recorded
	MovedAt      time.Time // the last change of phase or progress
}

// FindingLimits are the limits of findings and orphans. All are configuration; zero has no special meaning.
type FindingLimits struct {
	MinAge     time.Duration // since it was first seen as an orphan, before it is told
	MinSights  int           // scans in a row that have to see it as an orphan: 2 or more
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
	LostDelivery    FindingKind = "delivery_lost"    // a delivery was given up or refused, so what it says was not done
	FailedJob       FindingKind = "job_failed"       // a queue job used up its attempts

	AccessNotRevoked FindingKind = "access_not_revoked" // a ready cluster still has the account of access that ended

	ScanFailing FindingKind = "scan_failing" // an account was not looked through completely several times in a row

	CloudGone      FindingKind = "cloud_gone"      // a ready cluster of which complete scans see nothing
	ArchiveMissing FindingKind = "archive_missing" // a recorded name without an archive
	ArchiveUnknown FindingKind = "archive_unknown" // objects in the bucket of a cluster that the database does not know
	ShownBehind    FindingKind = "shown_behind"    // a comment, check, deployment or message shows another state than the row

	BreakerOpen FindingKind = "breaker_open" // creates that keep failing have others wait

	SlackChannel FindingKind = "slack_channel" // messages wait for a channel of Slack in which the bot cannot write
	SlackRefused FindingKind = "slack_refused" // messages wait for a workspace of Slack that refuses the bot
)

// FindingKinds returns all kinds.
func FindingKinds() []FindingKind {
	return []FindingKind{
		Orphan, Overdue, Stuck, Blocked, Remains, FailingDelivery, LostDelivery, FailedJob, AccessNotRevoked, ScanFailing, CloudGone, ArchiveMissing,
		ArchiveUnknown, ShownBehind, SlackChannel, SlackRefused, BreakerOpen,
	}
}

// Finding is a problem that a person should know about. It never deletes anything: only destroy attempts delete.
type Finding struct {
	Kind     FindingKind
	Cluster  string    // id; empty if no cluster is known
	Identity string    // of an orphan, or of a cluster that the database does not know
	Since    time.Time // since when, by ocpctl's clock
	Why      string    // reason, for people
	Evidence []string  // resources, or what the last verification still counted
}
