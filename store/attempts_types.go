package store

import (
	"encoding/json"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// SpecRow is everything a runner's spec is built from.
type SpecRow struct {
	Row        Row
	Attempt    string
	Number     int
	Kind       lifecycle.Kind
	Job        string
	Token      string // token id (jti) of the attempt's JWT
	Open       bool
	LeaseUntil time.Time
	Identities []IdentityRow // every record ever acknowledged for the cluster, oldest first
	Artifacts  []ArtifactRow // newest first
	Workers    int           // a scale attempt is to reach
	Addons     []Addon       // a create or configure attempt is to bring, in this order
}

// Lease is the answer to each of a runner's calls.
type Lease struct {
	Stop   string    // why to stop; empty: go on
	Until  time.Time // the lease, on the database's clock; zero where it was not renewed
	Closed bool      // the attempt is over: its token is no longer renewed
}

// IdentityRow is what was recorded before anything was created under it. Each field is written once.
type IdentityRow struct {
	InfraID, ClusterUUID, CCOName  string
	Account, Region, ReleaseDigest string
	Metadata                       string // metadata.json, which holds no secret
	InstallerSHA256                string
}

// ArtifactRow is one immutable archive in the bucket.
type ArtifactRow struct {
	Type        string // INSTALL_DIR_SNAPSHOT, LOG, AUTH_BUNDLE or METADATA
	Key         string
	ManifestKey string
	SHA256      string // lower-case hex
	Size        int64
	InfraID     string
	TakenAt     time.Time
}

// ReportRow is a progress report. Seq rises by one per attempt; a repeated seq changes nothing.
type ReportRow struct {
	Seq       int
	Phase     lifecycle.Phase
	Percent   int
	Step      string
	Account   string        // as preflight saw it
	Log       string        // redacted lines
	Artifacts []ArtifactRow `json:"snapshots"` // the contract's name: a spooled report is read as it was written
	Pass      *PassRow
	ToolExit  *ToolExitRow
	Addons    []AddonState // what became of add-ons since the last report
	Late      bool         // from the spool of a runner that no longer acts: it renews no lease
}

// ToolExitRow says that the installer's process ended.
type ToolExitRow struct {
	Code int // -1: killed by a signal
	At   time.Time
}

// PassRow is one verification pass as the runner reports it.
type PassRow struct {
	Number     int
	Account    string
	Identities []string
	Control    string          // what the positive control saw; empty: it failed
	Queries    json.RawMessage // what was asked and what came back
	Leftovers  json.RawMessage // a JSON list; empty: nothing found
	Words      []string        // the leftovers as text
	Clean      bool
}

// ResultRow ends an attempt.
type ResultRow struct {
	Outcome   lifecycle.Outcome
	Reason    string // one word
	Message   string // for people
	Whose     string // whose problem it is
	Next      string // what to do about it
	Retryable bool
	Outputs   *Outputs // of a succeeded create
	Workers   *int     // of a scale, how many were counted
	Addons    *int     // of a create or configure, how many add-ons are there
}

// AttemptRow is one attempt at a job, as people see it.
type AttemptRow struct {
	Number                              int
	Kind                                lifecycle.Kind
	OpenedAt                            time.Time
	ClaimedAt, RecordedAt, ToolExitedAt *time.Time
	ToolExitCode                        *int // of the destroyer; -1: killed by a signal
	Phase                               lifecycle.Phase
	ClosedAt                            *time.Time
	Outcome                             lifecycle.Outcome // empty while open
	Reason, Message, Whose, Next        string
	Retryable                           bool
	WorkersWanted, WorkersSeen          *int // of a scale
	AddonsWanted, AddonsSeen            *int // number of the refresh that a configure serves; how many add-ons it, or a create, saw in place
}

// VerificationRow is one stored verification pass: the evidence for a cluster's release.
type VerificationRow struct {
	Attempt    int // number
	Number     int
	At         time.Time // when it was received, on the database's clock
	Account    string
	Identities []string
	Control    string
	Queries    json.RawMessage
	Leftovers  json.RawMessage
	Words      []string
	Clean      bool
}

// Event is one line of a cluster's timeline.
type Event struct {
	At       time.Time
	Actor    string
	Name     string `db:"-"` // the actor's display name; whoever shows the event fills it in
	Action   string
	From, To string // "STATUS/phase" of a decided move; empty otherwise
	Why      string
	Meta     json.RawMessage
}

// Condition is one observed fact about a cluster.
type Condition struct {
	Type, Status, Reason, Message string // Status is True, False or Unknown
	At                            time.Time
}
