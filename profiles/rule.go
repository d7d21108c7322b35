package profiles

import "time"

// Policy is a set of rules in CEL (https://cel.dev) over a request for a new cluster. The variables are request, profile,
// actor, team, usage, pr and now; package policy/rules documents them.
type Policy struct {
	Name     string
	Sources  []string // doors it holds at (pr_label, pr_comment, api …); empty: all
	Profiles []string // globs over the profile's name; empty: all
	Rules    []Rule
	File     string // where it stands, for problems
	Line     int
}

// Effect is what a rule does when it holds.
type Effect string

// The effects.
const (
	EffectDeny            Effect = "deny"
	EffectWarn            Effect = "warn"
	EffectRequireApproval Effect = "requireApproval"
	EffectDefault         Effect = "default" // fills in what the request leaves out
)

// Rule is one sentence of a policy.
type Rule struct {
	Name     string
	When     string // CEL, a bool
	Effect   Effect
	Message  string            // words for people; required, but of a default
	Next     string            // what to do about it
	Set      map[string]string // of a default: field of the request (ttlHours, region, version, environment, profile …) → value
	Approval ApprovalTerms     // of requireApproval
	Line     int               // in its file, for problems
}

// ApprovalTerms say who has to agree. The zero value means one platform admin within a day.
type ApprovalTerms struct {
	Count int           // 1 or 2; with 2 the one who asked is not among them
	By    string        // role: platform_admin (default) or requester (of the cluster's team)
	For   time.Duration // how long it may wait; then it is refused
}
