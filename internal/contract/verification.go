package contract

import "time"

// Pass is one verification: what was queried, the results, and whether the positive control succeeded.
type Pass struct {
	Number     int        `json:"number"` // 1, 2, … within the attempt
	Account    string     `json:"account"`
	Identities []string   `json:"identities"` // infraIDs and ccoctl names that were searched for
	Control    string     `json:"control"`    // what the positive control saw; empty: it failed
	Queries    []Query    `json:"queries"`
	Leftovers  []Leftover `json:"leftovers"` // clean means: empty, every query answered, and the control succeeded
	Clean      bool       `json:"clean"`
}

// Query is one query of a pass.
type Query struct {
	Service string    `json:"service"` // ec2, route53 …
	Call    string    `json:"call"`    // DescribeVpcs …
	Region  string    `json:"region"`
	Asked   string    `json:"asked"` // filter or name
	At      time.Time `json:"at"`
	Count   int       `json:"count"`
	Err     string    `json:"err,omitempty"` // refused or unanswered: a finding, never an empty list

	// Unasked is why a region outside the cluster's own could not be asked, one of the values below. It is told and is no finding; empty: it
	// was asked.
	Unasked string `json:"unasked,omitempty"`
}

// Why a region outside the cluster's own could not be asked.
const (
	RegionNotEnabled = "not_enabled"            // the account has not enabled it, so nothing can be in it
	RegionDenied     = "denied_by_organization" // the account's organization denies it to everybody in the account
)

// Leftover is a resource that still exists, or a refused query.
type Leftover struct {
	Type string `json:"type"` // vpc, hosted-zone, bucket, refused-query …
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`

	Free    string `json:"free"`              // who can remove it, and what to do if that is no command
	Command string `json:"command,omitempty"` // removes it, or lets it be removed
	Remark  string `json:"remark,omitempty"`  // on that

	Region string `json:"region,omitempty"` // where it is; empty: it is in no region, or that is not known
	Detail string `json:"detail,omitempty"` // what its price depends on, as in SeenResource

	Refused *Refusal `json:"refused,omitempty"` // why it was not removed; absent: nobody said
}

// Advice says who can remove it and how, as text.
func (l Leftover) Advice() string {
	text := l.Free
	if l.Command != "" {
		text += ": " + l.Command
	}
	if l.Remark != "" {
		text += " (" + l.Remark + ")"
	}
	return text
}

// Refusal is why a resource was not removed: what the cloud said last, or why ocpctl keeps it.
type Refusal struct {
	Reason  string `json:"reason"`            // one word, e.g. TerminationProtected; Kept… if ocpctl decided it
	Words   string `json:"words"`             // the cloud's own
	Whose   string `json:"whose"`             // who has to act: one of the Whose values
	Next    string `json:"next"`              // what to do about it, for people
	Command string `json:"command,omitempty"` // what whoever Next names runs
	Heals   bool   `json:"heals,omitempty"`   // it may go by itself, so ocpctl repeats it; false: it is refused again until somebody acts
}
