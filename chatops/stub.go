// Package chatops is the language between people and clusters: text becomes a command, a cluster becomes words.
package chatops

import (
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// Verb names a command.
type Verb string

// The verbs that work now.
const (
	VerbCreate  Verb = "create"
	VerbDestroy Verb = "destroy"
	VerbExtend  Verb = "extend"
	VerbStatus  Verb = "status"
	VerbList    Verb = "list"
	VerbHelp    Verb = "help"
)

// Command is one understood line.
type Command struct {
	Verb    Verb
	Profile string        // create: empty asks for the only or default one; destroy, extend, status: which of the PR's clusters, empty: the one there is
	Name    string        // create only
	Region  string        // create only
	Version string        // create only
	Team    string        // create only
	TTL     time.Duration // create: the wished lifetime, 0 the profile's default, policy.NoEnd for "never" and 0; extend: what to add, always above 0
	Line    string        // the line as typed
}

// Parsed is one line that was meant for us: a command, or the answer to one that was not understood.
type Parsed struct {
	Command *Command // nil: not understood, Reply says why
	Reply   string
	Line    string
}

// Parse finds the commands of a comment, at most MaxCommands; nothing of ours gives none.
func Parse(body string) []Parsed { return nil }

// Links are where the words point to.
type Links struct{ UI string }

// CheckRun is a check run's words.
type CheckRun struct{ Title, Summary, Status, Conclusion string }

// Comment writes the one comment of a cluster.
func Comment(card lifecycle.Card, links Links, now time.Time) string { return "" }

// Check writes the check run of a cluster.
func Check(card lifecycle.Card, links Links, now time.Time) CheckRun { return CheckRun{} }

// Refusal answers a wish that policy refused.
func Refusal(actor string, v policy.Verdict) string { return "" }

// StatusReply answers status and list.
func StatusReply(actor string, cards []lifecycle.Card, links Links, now time.Time) string { return "" }

// UnknownLabel answers a label of ours that names no profile; known are profile names.
func UnknownLabel(label string, known []string) string { return "" }

// Help lists what one can type.
func Help() string { return "" }

// Closest finds the candidate a person most likely meant; ok is false when nothing is near.
func Closest(word string, candidates []string) (string, bool) {
	return policy.Closest(word, candidates)
}
