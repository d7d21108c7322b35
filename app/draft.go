package app

import (
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// checkFields are the fields of a create request, by the policy check that judges them.
var checkFields = map[string]string{
	"admin-only": "profile", "platform": "profile", "base-domain": "baseDomain", "tags": "extraTags", "permission": "role",
	"cost-center": "costCenter", "add-ons": "addons", "off-hours": "offhoursOptIn",
}

// Draft judges a create request and freezes what a runner would get, by the same code as an acceptance, and stores nothing: its
// ids are unused, and quotas count as empty. Everything wrong comes back as one Error with every field; notes are remarks for
// people although nothing is wrong.
func (s *Service) Draft(who policy.Principal, r CreateRequest, now time.Time) (row clusters.Row, notes []string, err error) {
	r.Source = policy.SourceAPI
	request, wrong := s.prepareRequest(who, r, s.catalogue(), now)
	verdict := policy.Verdict{}
	if !isUnreadable(wrong) {
		verdict = s.evaluateRequest(request, policy.Usage{}, now)
	}
	if len(wrong) > 0 || !verdict.Allowed {
		return clusters.Row{}, nil, Refused(verdict, wrong)
	}
	if row, err = s.draftRow(request, verdict.Grant, now); err != nil {
		return clusters.Row{}, nil, err
	}
	for _, check := range request.Notes {
		notes = append(notes, check.Message+" "+check.Next)
	}
	return row, notes, nil
}

func fieldOf(check policy.Check) Field {
	name := check.Name
	if field, other := checkFields[name]; other {
		name = field
	}
	f := Field{Name: name, Detail: strings.TrimSpace(check.Message + " " + check.Next)}
	if check.Accept != "" && !check.NextSaysAccept {
		f.Accept = []string{check.Accept}
	}
	return f
}

// several are the fields in which more than one thing can be wrong at once, each with its own message.
var several = []string{"extraTags", "quota", "budget", "rules"}

// hasProblem reports whether the field is listed as wrong already.
func hasProblem(wrong []Field, f Field) bool {
	return !slices.Contains(several, f.Name) && slices.ContainsFunc(wrong, func(w Field) bool { return w.Name == f.Name })
}
