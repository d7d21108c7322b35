// Package chatops is the language between people and clusters: text becomes a command, a cluster becomes words.
//
// It is pure, and it writes the same words for the same card whenever it is asked: the comment of a cluster is edited
// only when its words change, so nothing in it ticks. It must never write a credential, and never anything that could
// be taken for a command when it is read back. The wires to GitHub and Slack are packages below it.
package chatops

import (
	"time"

	"github.com/ocpctl/ocpctl/policy"
)

// Prefix starts a command, at the start of a line and in any case.
const Prefix = "/ocp"

// LabelPrefix starts the labels that are ours; the rest is a profile's name.
const LabelPrefix = "ocp/"

// Verb names a command.
type Verb string

// The verbs. What is done elsewhere has known words too (see the command table) and is answered as such.
const (
	VerbCreate  Verb = "create"
	VerbDestroy Verb = "destroy"
	VerbExtend  Verb = "extend"
	VerbStatus  Verb = "status"
	VerbList    Verb = "list"
	VerbApprove Verb = "approve"
	VerbLink    Verb = "link"
	VerbHelp    Verb = "help"
)

// Command is one understood line.
type Command struct {
	Verb    Verb
	Profile string // create: empty is the default; destroy, extend, status, approve: which of the pull request's clusters, empty: the one there is
	Name    string // create only, as are Region, Version and Team
	Region  string
	Version string
	Team    string
	TTL     time.Duration // create: 0 is the profile's default, policy.NoEnd stands for "never" and 0; extend: what to add, always above 0
	Line    string        // the line as typed
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
	Status         string // queued, in_progress or completed
	Conclusion     string // success, neutral, failure or cancelled; empty unless completed
}

// Closest finds the candidate a person most likely meant; ok is false when nothing is near.
func Closest(word string, candidates []string) (best string, ok bool) {
	return policy.Closest(word, candidates)
}
