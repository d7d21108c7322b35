package attempts

import (
	"encoding/json"
	"time"

	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// SpecRow is everything a runner's spec is built from.
type SpecRow struct {
	Row        clusters.Row
	Attempt    string
	Number     int
	Kind       lifecycle.Kind
	Job        string
	Token      string // token id (jti) of the attempt's JWT
	Open       bool
	LeaseUntil time.Time
	Identities []IdentityRow    // every record ever acknowledged for the cluster, oldest first
	Artifacts  []ArtifactRow    // newest first
	Workers    int              // a scale attempt is to reach
	Addons     []clusters.Addon // a create or configure attempt is to bring, or a prepare of a cluster that lacks some, in this order
	Cause      tracing.Cause    // what set the attempt off
	Spot       bool             // a create orders its workers as spot machines
	ShortZones []string         // of a create: in which zones earlier ones of the cluster found no capacity
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
	Addons    []AddonState      // what became of add-ons since the last report
	Access    []AccessState     // … and of access
	Replaced  *clusters.Outputs // the kubeconfig and the kubeadmin password that replace those of the install; nil: none do (prepare)
	Late      bool              // from the spool of a runner that no longer acts: it renews no lease
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
	Control    string              // what the positive control saw; empty: it failed
	Queries    json.RawMessage     // what was asked and what came back
	Leftovers  json.RawMessage     // a JSON list; empty: nothing found
	Blockers   []lifecycle.Blocker // the leftovers, and why it is not clean otherwise
	Clean      bool
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
	Blockers   []lifecycle.Blocker
	Clean      bool
}

// LaunchSpec is what the controller needs to start an open attempt.
type LaunchSpec struct {
	Attempt    string
	Number     int
	Kind       lifecycle.Kind
	Cluster    string
	Job        string
	Token      string // token id (jti) of the attempt's JWT
	Open       bool
	Claimed    bool
	Launched   bool // the dispatcher confirmed the start
	LeaseUntil time.Time

	Team, Profile, Platform string        // of the cluster
	Deadline                time.Duration // limit of the installer's own work; zero: none

	ServiceAccounts map[string]string // of the cluster's cloud account, by kind of runner; empty: the installation's
}
