package policy

import (
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
)

// Terms is what a request is judged by: the catalogue, its compiled rules, and the time.
type Terms struct {
	Catalogue profiles.Catalogue
	Rules     Rules // nil: none
	Now       time.Time
	Brakes    []lifecycle.Brake   // that hold now, anywhere
	Own       map[string]string   // the installation's own cloud account, by platform
	Unproven  map[string]Unproven // cloud accounts that get no new cluster, by the cloud's id; nil: each is proven
	Claims    bool                // a pool may serve the request, so that it needs no account with room
	Explain   bool                // the check of the rules names those that do not apply, too, with what they read
}

// Unproven says why an account is not known to take clusters.
type Unproven struct {
	Why  string // as part of a sentence
	Next string // what to do about it, and who can; empty: to wait
}

// Rules are the catalogue's compiled policies. They never panic, and never allow what they could not evaluate.
type Rules interface {
	// Defaults fills in what the request leaves out: only the profile if none is named, otherwise everything else. The checks say what
	// was filled in and by which rule; a rule that could not be evaluated is a Fail.
	Defaults(In) (Request, []Check)
	// Judge returns a check for every rule that applies: Fail, Warn or Ask. A rule that could not be evaluated is a Fail. With In.Explain, a
	// rule that does not apply is a Pass, and each check has what its rule read.
	Judge(In) []Check
}

// RuleID names a rule among all of a catalogue.
func RuleID(p profiles.Policy, r profiles.Rule) string { return p.Name + "/" + r.Name }

// In is what a rule can read.
type In struct {
	Request    Request          // for Judge: with every default
	Profile    profiles.Profile // the zero value while none is named
	Team       profiles.Team    // the zero value if it is not declared
	Usage      Usage
	Now        time.Time
	PriceCents int64 // of the whole life, by list prices; 0: unknown
	Explain    bool
}

// rulesInput returns what the rules read: the request with every default.
func (j judging) rulesInput() In {
	return In{Request: j.completeRequest(), Profile: j.profile, Team: j.team, Usage: j.usage, Now: j.terms.Now, PriceCents: j.price, Explain: j.terms.Explain}
}

// checkRules evaluates the catalogue's rules, with a check for each that filled something in, applies, or could not be evaluated.
func (j judging) checkRules() Check {
	checks := append(j.filled[:len(j.filled):len(j.filled)], j.terms.Rules.Judge(j.rulesInput())...)
	return combineChecks(RulesCheck, "No rule refuses it.", checks)
}
