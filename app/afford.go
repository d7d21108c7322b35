package app

import (
	"errors"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// afford has the store judge what a change of the cluster will cost more, by the quotas and the budget that a new cluster of
// the same person, team and repository is judged by.
func (d *Service) Afford(p policy.Principal, row store.Row, what string) *store.Afford {
	catalogue, repo := d.catalogue().Catalogue, ""
	if row.PR != nil {
		repo = row.PR.Repo
	}
	return &store.Afford{
		Scope: scope(row.RequestedBy, row.Team, repo, catalogue),
		Judge: func(u store.Usage, rise store.Rise) (warning string, err error) {
			check := policy.JudgeRise(policy.Party{Asks: p, RequestedBy: row.RequestedBy, Team: row.Team, Repo: repo},
				policy.Rise(rise), used(u), catalogue)
			if check.Result == policy.Fail {
				return "", Fail(Conflict, "%s cannot be %s: %s", row.Name, what, sentence(check))
			}
			if check.Result == policy.Warn {
				warning = sentence(check)
			}
			return warning, nil
		},
	}
}

// unaffordable is the refusal of afford within an error of the store; nil: it is another error, or none.
func Unaffordable(err error) *Error {
	var refused *Error
	if errors.As(err, &refused) {
		return refused
	}
	return nil
}
