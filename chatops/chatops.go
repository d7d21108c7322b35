// Package chatops is the language between people and clusters: text becomes a command, a cluster becomes words.
//
// It is pure, and it writes the same words for the same card whenever it is asked: the comment of a cluster is edited
// only when its words change, so nothing in it ticks. It must never write a credential, and never anything that could
// be taken for a command when it is read back. The wires to GitHub and Slack are packages below it.
package chatops

import (
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/policy"
)

// Prefix starts a command, at the start of a line and in any case.
const Prefix = "/ocp"

// The labels that are ours.
const (
	LabelPrefix    = "ocp/"     // the rest is a profile's name
	KeepLabel      = "ocp/keep" // holds the clusters of the pull request, for who may; no profile is called so
	TTLLabelPrefix = "ocp-ttl/" // the rest is a number of hours
)

// How much of a log a command may ask for, and gets unasked.
const (
	MaxLogLines = 200
	LogLines    = 40
)

// Verb names a command.
type Verb string

// The verbs. What is done elsewhere has known words too (see the command table) and is answered as such.
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
	VerbScale      Verb = "scale"
	VerbRefresh    Verb = "refresh"
	VerbRetry      Verb = "retry"
	VerbHold       Verb = "hold"
	VerbShare      Verb = "share"
	VerbHelp       Verb = "help"
)

// Command is one understood line.
type Command struct {
	Verb    Verb
	Profile string // create: empty is the default; else which of the pull request's clusters, empty: the one there is
	Name    string // create only, as are Region, Version and Team
	Region  string
	Version string
	Team    string        // share too: the team to share it with
	DryRun  bool          // create: say what would become of it, and create nothing
	TTL     time.Duration // create: 0 is the profile's default, policy.NoEnd stands for "never" and 0; extend: what to add, hold: how long from now, always above 0

	Replicas int    // scale: how many workers, 0 and up
	Lines    int    // logs: how many of the last lines, 1 to MaxLogLines
	With     string // share: a principal's id or a login, where it is no team; exactly one of With and Team is set
	Commit   string // approve: the commit that is approved, 7 to 40 hexadecimal digits in lower case; empty: the one that was asked about
	Reason   string // hold, destroy: why, empty: not told; refuse: why, see For

	Line string // the line as typed
}

// Parsed is one line that was meant for us: a command, or the answer to one that was not understood.
type Parsed struct {
	Command *Command // nil: not understood, Reply says why
	Reply   string
	Line    string
}

// Links are where the words point to.
type Links struct {
	UI string // base URL of API and pages, without a slash at the end
}

// CheckRun is a check run in words and in GitHub's states.
type CheckRun struct {
	Title, Summary string
	Status         string        // queued, in_progress or completed
	Conclusion     string        // success, neutral, failure, cancelled or action_required; empty unless completed
	DetailsURL     string        // the cluster's page; empty: there is none
	Actions        []CheckAction // at most three
	Annotations    []Annotation
}

// CheckAction is a button of a check run: at most 20, 40 and 20 characters.
type CheckAction struct{ Label, Description, Identifier string }

// The identifiers of the buttons, as GitHub sends them back.
const (
	ActionExtend  = "extend"
	ActionDestroy = "destroy"
	ActionRetry   = "retry"
	ActionApprove = "approve" // of the commit that the check run is on
)

// Annotation is a remark at a line of a file.
type Annotation struct {
	Path           string
	Line           int    // from 1
	Level          string // notice, warning or failure
	Title, Message string
}

// Detail is what a cluster's comment shows in its fold, beside what its card tells.
type Detail struct {
	Timeline   []Moment // oldest first
	Conditions []Condition
	Log        []string // the newest lines, oldest first
	Approval   string   // who has to approve it and why: see ApprovalWords; shown while it waits for that
	Approvers  []string // logins and teams (organization/slug) of GitHub that may approve it; called while it waits for that
	Advice     string   // policy's warnings: see AdviceWords; shown until it is ready
	Mention    []string // when the requester is called by name: "ready", "failed", "expiring", as the repository's file says; empty: never
}

// Moment is something that happened to a cluster.
type Moment struct {
	At        time.Time
	What, Why string
}

// Condition is one of a cluster's conditions.
type Condition struct {
	Type, Status, Reason, Message string
	At                            time.Time
}

// For tells profiles from other words by the known profiles' names. It takes the profile off the front of a refusal's reason: a
// comment alone does not tell whether "/ocp refuse aws-standard is too big" names one. A profile that is called like the
// beginning of a commit is the profile.
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

// Closest finds the candidate a person most likely meant; ok is false when nothing is near.
func Closest(word string, candidates []string) (best string, ok bool) {
	return policy.Closest(word, candidates)
}
