package policy

import (
	"time"

	"github.com/ocpctl/ocpctl/profiles"
)

// Terms is what a request is judged by: the catalogue, its compiled rules, and when.
type Terms struct {
	Catalogue profiles.Catalogue
	Rules     Rules // nil: none
	Now       time.Time
}

// Rules are the catalogue's policies, ready to be asked. They never panic and never let through what they could not judge.
type Rules interface {
	// Defaults fills in what the request leaves out: the profile alone where none is named, everything else where one is.
	// The checks say what was filled in and by which rule; one that could not be evaluated is a Fail.
	Defaults(In) (Request, []Check)
	// Judge gives a check for every rule that holds: Fail, Warn or Ask. One that could not be evaluated is a Fail.
	Judge(In) []Check
}

// In is what a rule may look at.
type In struct {
	Request    Request          // of Judge: with every default
	Profile    profiles.Profile // the zero value where none is named yet
	Team       profiles.Team    // the zero value where it is not declared
	Usage      Usage
	Now        time.Time
	PriceCents int64 // of the whole life by list prices; 0: not known
}

// in is what the rules judge: the request with every default.
func (j judging) in() In {
	return In{Request: j.complete(), Profile: j.profile, Team: j.team, Usage: j.usage, Now: j.terms.Now, PriceCents: j.price}
}

// checkRules asks the catalogue's rules, with a check for each that filled something in, holds, or could not be evaluated.
func (j judging) checkRules() Check {
	checks := append(j.filled[:len(j.filled):len(j.filled)], j.terms.Rules.Judge(j.in())...)
	return whole("rules", "No rule refuses it.", checks)
}
