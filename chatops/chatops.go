package chatops

import (
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// Prefix starts a command, at the start of a line and in upper or lower case.
const Prefix = "/ocp"

// The labels of ocpctl.
const (
	LabelPrefix    = "ocp/"     // the rest is a profile's name
	KeepLabel      = "ocp/keep" // holds the clusters of the pull request, if the person may do that; no profile has this name
	TTLLabelPrefix = "ocp-ttl/" // the rest is a number of hours
)

// How many log lines a command may request, and the default.
const (
	MaxLogLines = 200
	LogLines    = 40
)

// Verb names a command.
type Verb string

// The verbs. Verbs that other places implement are known too (see the command table), and the answer says where.
const (
	VerbCreate     Verb = "create"
	VerbDestroy    Verb = "destroy"
	VerbExtend     Verb = "extend"
	VerbStatus     Verb = "status"
	VerbList       Verb = "list"
	VerbApprove    Verb = "approve"
	VerbRefuse     Verb = "refuse"
	VerbLink       Verb = "link"
	VerbLogs       Verb = "logs"
	VerbKubeconfig Verb = "kubeconfig"
	VerbConsole    Verb = "console"
	VerbScale      Verb = "scale"
	VerbRefresh    Verb = "refresh"
	VerbSleep      Verb = "sleep"
	VerbWake       Verb = "wake"
	VerbRetry      Verb = "retry"
	VerbHold       Verb = "hold"
	VerbShare      Verb = "share"
	VerbHelp       Verb = "help"
	VerbUnhold     Verb = "unhold"
	VerbUnshare    Verb = "unshare"
	VerbTransfer   Verb = "transfer"
	VerbExplain    Verb = "explain"
	VerbApprovals  Verb = "approvals"
	VerbUnlink     Verb = "unlink"
	VerbNotify     Verb = "notify"
)

// The verbs that only buttons have. Nobody types them.
const (
	VerbOpenForm        Verb = "form"
	VerbAcceptHandover  Verb = "accept-handover"
	VerbDeclineHandover Verb = "decline-handover"
	VerbPage            Verb = "page" // the next page of a list
)

// Command is one parsed line.
type Command struct {
	Verb     Verb
	Profile  string // create: empty is the default; otherwise which of the pull request's clusters, empty if it has only one
	Name     string // create only, as are Region, Version, Team, Pool, Account and OffHours
	Pool     string // as in policy.Request
	Account  string // likewise
	Region   string
	Version  string
	Team     string        // share: the team to share it with
	OffHours *bool         // create: whether it sleeps outside working hours; nil: as the repository's file or the profile says
	DryRun   bool          // create: report what would happen, and create nothing
	TTL      time.Duration // create: 0 is the profile's default, policy.NoEnd stands for "never" and 0; extend: how much to add; hold: for how long from now; both always above 0; sleep: the same, or 0 until somebody wakes it

	Tonight  bool               // hold: instead of TTL, keep it awake until the next working hours
	Replicas int                // scale: number of workers, 0 and up
	Lines    int                // logs: number of last lines, 1 to MaxLogLines
	With     string             // share: a principal's id or a login; exactly one of With and Team is set
	Role     policy.ClusterRole // kubeconfig, console: empty is the most that one may have; share: empty only shows the cluster
	Commit   string             // approve: the commit to approve, 7 to 40 lowercase hexadecimal digits; empty: the one that the approval was requested for
	Code     string             // link: what the page of the link shows; empty: begin
	Topic    string             // help: the command that it is about, empty: all
	Reason   string             // hold, destroy: why, empty: not given; refuse: why, see For

	Line string // the line as typed
}

// Parsed is one line that was meant for ocpctl: a command, or the answer to a line that was not understood.
type Parsed struct {
	Command *Command // nil: not understood, Reply says why
	Reply   string
	Line    string
}

// Links says where links in the texts point.
type Links struct {
	UI string // base URL of API and pages, without a trailing slash
}

// CheckRun is a check run: its texts, and its status in GitHub's terms.
type CheckRun struct {
	Title, Summary string
	Status         string        // queued, in_progress or completed
	Conclusion     string        // success, neutral, failure, cancelled or action_required; empty unless completed
	DetailsURL     string        // the cluster's page; empty: there is none
	Actions        []CheckAction // at most three
	Annotations    []Annotation
}

// CheckAction is a button of a check run; GitHub allows 20, 40 and 20 characters.
type CheckAction struct{ Label, Description, Identifier string }

// The identifiers of the buttons, as GitHub sends them back.
const (
	ActionExtend  = "extend"
	ActionDestroy = "destroy"
	ActionRetry   = "retry"
	ActionApprove = "approve" // approves the commit that the check run is on
)

// Annotation is a message at a line of a file.
type Annotation struct {
	Path           string
	Line           int    // from 1
	Level          string // notice, warning or failure
	Title, Message string
}

// Detail is what a cluster's comment shows besides its card, mostly in its fold.
type Detail struct {
	Timeline   []Moment // oldest first
	Conditions []Condition
	Log        []string             // the newest lines, oldest first
	Approval   string               // who has to approve it and why: see ApprovalWords; shown while it waits for the approval
	Approvers  []string             // GitHub logins and teams (organization/slug) that may approve it; mentioned while it waits
	Advice     string               // policy's warnings: see AdviceWords; shown until the cluster is ready
	Tests      []lifecycle.RunTests // what runs reported, the newest run first
	Requester  string               // current login on GitHub of who requested it; empty: they have none, or nobody is mentioned
	Mention    []string             // when the requester is mentioned: "ready", "failed", "expiring", from the repository's file; empty: never
}

// Moment is an event in a cluster's life.
type Moment struct {
	At        time.Time
	What, Why string
}

// Condition is one of a cluster's conditions.
type Condition struct {
	Type, Status, Reason, Message string
	At                            time.Time
}

// For resolves what the parser cannot decide without the names of the profiles. It takes a profile off the front of a refusal's
// reason: the comment alone does not tell whether "/ocp refuse aws-standard is too big" names one. A word that is both a profile and
// the beginning of a commit is the profile.
func (c Command) For(profiles []string) Command {
	if c.Verb == VerbApprove && c.Profile == "" && slices.Contains(profiles, c.Commit) {
		c.Profile, c.Commit = c.Commit, ""
	}
	if c.Verb != VerbRefuse || c.Profile != "" {
		return c
	}
	first, rest, _ := strings.Cut(c.Reason, " ")
	if name := strings.TrimPrefix(strings.ToLower(first), LabelPrefix); slices.Contains(profiles, name) {
		c.Profile, c.Reason = name, strings.TrimSpace(rest)
	}
	return c
}
