package app

import (
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// checkFields are the fields of a create request by the policy check that judges them.
var checkFields = map[string]string{
	"admin-only": "profile", "platform": "profile", "base-domain": "baseDomain", "ttl": "ttlHours", "tags": "extraTags", "permission": "role",
	"cost-center": "costCenter",
}

// Draft judges a create request and freezes what a runner would be given, by the same code as an acceptance does, and
// keeps none of it: the ids in it are nobody's, and quotas are taken to be empty. wrong are fields that could not even be
// read. What is wrong comes back as one Error with every field; notes are what a person should know though nothing is wrong.
func (d *Service) Draft(who policy.Principal, r CreateRequest, wrong []Field, now time.Time) (row store.Row, notes []string, err error) {
	w, wrong := d.prepare(who, Asked{Request: r, Wrong: wrong, Door: policy.DoorAPI}, d.catalogue(), now)
	verdict := policy.Verdict{}
	if !unreadable(wrong) {
		verdict = d.evaluate(w, policy.Usage{}, now)
	}
	if len(wrong) > 0 || !verdict.Allowed {
		return store.Row{}, nil, Refused(verdict, wrong)
	}
	if row, err = d.draft(w, verdict.Grant, now); err != nil {
		return store.Row{}, nil, err
	}
	for _, check := range w.Notes {
		notes = append(notes, check.Words+" "+check.Next)
	}
	return row, notes, nil
}

func fieldOf(check policy.Check) Field {
	name := check.Name
	if field, other := checkFields[name]; other {
		name = field
	}
	f := Field{Name: name, Detail: strings.TrimSpace(check.Words + " " + check.Next)}
	if check.Accept != "" && !strings.Contains(check.Next, check.Accept) {
		f.Accept = []string{check.Accept}
	}
	return f
}

// several are the fields of which more than one thing may be wrong at once, each with words of its own.
var several = []string{"extraTags", "quota", "budget", "rules"}

// told says that the field is known to be wrong already.
func told(wrong []Field, f Field) bool {
	return !slices.Contains(several, f.Name) && slices.ContainsFunc(wrong, func(w Field) bool { return w.Name == f.Name })
}
