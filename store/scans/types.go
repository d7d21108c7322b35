package scans

import (
	"encoding/json"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// Spec is what a scan's runner is told, as configured when the scan was opened. It holds no secret.
type Spec struct {
	Installation        string   `json:"installation"`
	HomeRegion          string   `json:"homeRegion"`
	Regions             []string `json:"regions,omitempty"` // empty: every region that the account has enabled
	BaseDomains         []string `json:"baseDomains,omitempty"`
	CloudCredentialsRef string   `json:"cloudCredentialsRef,omitempty"`
	CallsPerSecond      int      `json:"callsPerSecond"`

	CloudRole *contract.CloudRole `json:"cloudRole,omitempty"` // what the credentials assume; nil: nothing

	ServiceAccounts map[string]string `json:"serviceAccounts,omitempty"` // of the account, by kind of runner; empty: the installation's
}

// Scan is one look through an account.
type Scan struct {
	ID, Platform, Account string
	Round                 int    // of this account
	AskedBy               string // principal id, or Schedule
	Spec                  Spec
	OpenedAt              time.Time
	Runner                int // number of its newest runner
	RunnerSince           time.Time
	TokenID               string
	LaunchedAt            *time.Time
	LaunchTrouble         *lifecycle.Trouble
	ClaimedBy             *string
	ClaimedAt, LeaseUntil *time.Time
	Regions               []string       // that were looked through
	Calls                 map[string]int // by service
	Slowed                int            // calls that the cloud throttled
	Resources             int            // that it saw
	ClosedAt              *time.Time     // nil: it is open
	Outcome               *lifecycle.Outcome
	Reason, Message, Next string
	JudgedAt              *time.Time
}

// JobID is the id under which people see the scan as a job.
func (s Scan) JobID() string { return jobPrefix + s.ID[len(idPrefix):] }

const (
	idPrefix  = "scn"
	jobPrefix = "job"
)

// Part is one service in one region of a scan.
type Part struct {
	Name      string
	Runner    int
	Resources int
	Calls     int
	DoneAt    *time.Time // nil: pages are missing
	Err       string     // why it is incomplete
}

// SeenRow is one resource that scans saw.
type SeenRow struct {
	Platform, Account, ID   string
	Resource                json.RawMessage // contract.SeenResource
	FirstSeenAt, LastSeenAt time.Time
	Sights                  int        // scans in a row that saw it
	GoneAt                  *time.Time // nil: it is there
	OrphanID                *string    // the orphan that it is a part of; nil: it is of a living cluster
}

// OrphanRow is an orphan: resources of one owner, as their tags and names tell.
type OrphanRow struct {
	ID, Platform, Account   string
	Installation            string  // the InstallationId tag; empty: none
	ClusterTag              string  // the ClusterId tag; empty: none
	Identity                string  // infraID or ccoctl name; empty: unknown
	Place                   string  // what it is in, or the resource itself; only without a cluster and an identity
	ClusterID               *string // the known cluster that it is or was of
	Class                   lifecycle.OrphanClass
	Why                     string
	Regions                 []string
	ManagedBy               bool // each of its resources that has tags has ocpctl's ManagedBy and ClusterTag
	Owner, Team, Name       string
	Resources               int      // how many; Resources of the store lists them
	Evidence                []string // the first of them, for people
	HourlyCents             *float64 // of those whose price is known; nil: of none
	Unpriced                int      // resources whose price is unknown
	FirstSeenAt, LastSeenAt time.Time
	Sights                  int // scans in a row that saw it
	State                   lifecycle.OrphanState
	StateAt                 time.Time
	StateWhy                string
	DecidedBy               string     // principal id; empty: no person decided the state
	DecidedWhy              string     // the reason of that decision, or the setting that made it; empty: none was made
	ReportedAt              *time.Time // when it was first reported, this time
	GoneAt                  *time.Time
	CleanupCluster          *string // the cluster whose teardown removes it
}
