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
	// Defaults fills in what the request leaves out. The checks say what was filled in and by which rule; one that could not be
	// evaluated is a Fail.
	Defaults(In) (Request, []Check)
	// Judge gives a check for every rule that holds: Fail, Warn or Ask. One that could not be evaluated is a Fail.
	Judge(In) []Check
}

// In is what a rule may look at.
type In struct {
	Request    Request
	Profile    profiles.Profile // the zero value where the profile is not known
	Team       profiles.Team    // the zero value where teams are not declared
	Usage      Usage
	Now        time.Time
	PriceCents int64 // of the whole life by list prices; 0: not known
}
