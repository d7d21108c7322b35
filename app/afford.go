package app

import (
	"errors"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/usage"
)

// affordCheck makes the store judge what a change adds to the cluster's usage, by the same quotas and budget as a new cluster of the
// same person, team and repository. act is the change.
func (s *Service) affordCheck(p policy.Principal, row clusters.Row, act policy.Act) *usage.Afford {
	catalogue, repo := s.catalogue().Catalogue, ""
	if row.PR != nil {
		repo = row.PR.Repo
	}
	return &usage.Afford{
		Scope: scopeOf(row.RequestedBy, row.Team, repo, catalogue),
		Judge: func(u usage.Usage, rise usage.Rise) (warning string, err error) {
			used, check := ToPolicyUsage(u), policy.Check{}
			if act != policy.ActScale {
				check = policy.JudgeRecall(row.Team, rise.Older, used, catalogue)
			}
			if check.Result != policy.Fail {
				check = policy.JudgeRise(policy.Party{Asks: p, RequestedBy: row.RequestedBy, Team: row.Team, Repo: repo},
					policy.Rise{Cents: rise.Cents, NodeHours: rise.NodeHours}, used, catalogue)
			}
			if check.Result == policy.Fail {
				return "", Fail(Conflict, messages.Unaffordable(row.Name, act, check))
			}
			if check.Result == policy.Warn {
				warning = messages.CheckText(check)
			}
			return warning, nil
		},
		Reached: func(u usage.Usage, rise usage.Rise) []usage.Threshold {
			return reachThresholds(row.Team, u, rise.Cents, catalogue)
		},
	}
}

// reachThresholds returns the parts of a team's budget that are reached when it promises so much more.
func reachThresholds(team string, u usage.Usage, cents int64, c profiles.Catalogue) (all []usage.Threshold) {
	t, _, _ := c.Team(team)
	sum := u.Team.SpentCents + u.Team.CommittedCents + cents
	for _, percent := range policy.BudgetReached(t.Budget, sum) {
		all = append(all, usage.Threshold{Team: team, Percent: percent, Cents: sum, Budget: t.Budget.MonthlyCents})
	}
	return all
}

// Unaffordable returns the refusal of Afford within a store's error; nil: it is another error, or none.
func Unaffordable(err error) *Error {
	var refused *Error
	if errors.As(err, &refused) {
		return refused
	}
	return nil
}
