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

// many are fields of which several things may be wrong at once, each with words of its own.
var many = []string{"extraTags", "quota", "budget", "rules"}

// Draft judges a create request and freezes what a runner would be given, by the same code as an acceptance does, and
// keeps none of it: the ids in it are nobody's. wrong are fields that could not even be read. What is wrong comes back
// as one Error with every field; notes are what a person should know though nothing is wrong.
func (d *Desk) Draft(who policy.Principal, r CreateRequest, wrong []Field, now time.Time) (row store.Row, notes []string, err error) {
	if slices.ContainsFunc(wrong, func(f Field) bool { return f.Name == wholeRequest }) { // nothing was read that could be judged
		return store.Row{}, nil, &Error{Kind: Invalid, Message: "The request cannot be granted as it stands.", Fields: wrong}
	}
	if r.Profile == "" {
		r.Profile = d.defaultProfile()
	}
	r, more := r.filled(who)
	profile, known := d.catalogue.Get(r.Profile)
	wrong = append(wrong, more...)
	for _, field := range r.check(profile, known) {
		if !told(wrong, field) { // a field that could not be read is not missing
			wrong = append(wrong, field)
		}
	}
	request := r.wish(who)
	verdict := policy.Evaluate(request, policy.Usage{}, policy.Terms{Catalogue: d.catalogue, Now: now}, d.policy)
	for _, check := range verdict.Refusals() {
		if field := fieldOf(check); !told(wrong, field) && check.Name != "ownership" { // r.check names its fields one by one
			wrong = append(wrong, field)
		}
	}
	if len(wrong) > 0 {
		return store.Row{}, nil, &Error{Kind: Invalid, Message: "The request cannot be granted as it stands.", Fields: wrong}
	}
	row, err = d.draft(wish{request: request}, verdict.Grant, now)
	if err != nil {
		return store.Row{}, nil, err
	}
	if r.SSHPublicKey != "" {
		row.Spec.SSHKey = strings.TrimSpace(r.SSHPublicKey)
	}
	if shortened(r.SSHPublicKey) {
		notes = append(notes, "sshPublicKey is a key cut for show and stands here as it was given; the installer refuses it until it is whole")
	}
	return row, notes, nil
}

func fieldOf(check policy.Check) Field {
	name := check.Name
	if field, other := checkFields[name]; other {
		name = field
	}
	f := Field{Name: name, Detail: check.Words + " " + check.Next}
	if check.Accept != "" && !strings.Contains(check.Next, check.Accept) {
		f.Accept = []string{check.Accept}
	}
	return f
}

// told says that the field is known to be wrong already.
func told(wrong []Field, f Field) bool {
	for _, w := range wrong {
		if w.Name == f.Name && !slices.Contains(many, f.Name) {
			return true
		}
	}
	return false
}
