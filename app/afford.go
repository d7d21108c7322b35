package app

import (
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// afford has the store judge what a change of the cluster will cost more, by the quotas and the budget that a new cluster of
// the same person, team and repository is judged by. warned is filled in with what the one who asks should know though the
// change is made.
func (d *Service) Afford(p policy.Principal, row store.Row, what string, warned *string) *store.Afford {
	catalogue, repo := d.catalogue().Catalogue, ""
	if row.PR != nil {
		repo = row.PR.Repo
	}
	return &store.Afford{
		Scope: scope(row.RequestedBy, row.Team, repo, catalogue),
		Judge: func(u store.Usage, rise store.Rise) error {
			check := policy.JudgeRise(policy.Party{Asks: p, RequestedBy: row.RequestedBy, Team: row.Team, Repo: repo},
				policy.Rise(rise), used(u), catalogue)
			if check.Result == policy.Fail {
				return Fail(Conflict, "%s cannot be %s: %s", row.Name, what, sentence(check))
			}
			if check.Result == policy.Warn && warned != nil {
				*warned = " " + sentence(check)
			}
			return nil
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

// To is a refusal as the answer to somebody's comment.
func (e *Error) To(login string) *Error {
	said := *e
	said.Message = fmt.Sprintf("@%s, %s", login, e.Message)
	return &said
}
