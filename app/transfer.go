package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Transfer gives a cluster to another of the principal's teams, and to an owner there (empty: the principal). The new team's
// quota and budget must have space for it: they are judged under the team's lock. The tags in the cloud keep the names of its
func (s *Service) Transfer(ctx context.Context, p policy.Principal, ref, team, owner string, origin Origin) (Change, error) {
	row, origin, err := s.Authorize(ctx, p, ref, policy.ActTransfer, origin)
	if err != nil {
		return Change{}, err
	}
	if owner == "" {
		owner = p.Name
	}
	if origin, err = CheckReason(origin, false); err != nil {
		return Change{}, err
	}
	return s.giveCluster(ctx, row, p, team, owner, func(judge store.JudgeTransfer) error {
		return s.store.Transfer(ctx, row.ID, team, owner, s.transferOrigin(origin, p, team), judge)
	})
}

// transferOrigin is the origin of a cluster's move to a team, whose cohort is counted and locked with it.
func (s *Service) transferOrigin(origin Origin, p policy.Principal, team string) clusters.Origin {
	out := s.StoreOrigin(origin, p)
	out.Afford = &usage.Afford{Scope: usage.Scope{Team: team, Cohort: CohortScope(team, s.catalogue().Catalogue)}}
	return out
}

// giveCluster judges whether a cluster may go to a team and an owner on a principal's word, who must be allowed to create clusters for the
// team, and has write store it. write calls judge with the team's usage, under the team's lock.
func (s *Service) giveCluster(ctx context.Context, row clusters.Row, p policy.Principal, team, owner string, write func(judge store.JudgeTransfer) error) (Change, error) {
	catalogue := s.catalogue()
	if wrong := newHolder(p, team, owner, catalogue.Catalogue); len(wrong) > 0 {
		return Change{}, &Error{Kind: Invalid, Message: messages.CannotTransfer(row.Name), Fields: wrong}
	}
	if err := checkWanted(row, policy.ActTransfer); err != nil {
		return Change{}, err
	}
	if row.NeedsApproval && team != row.Team { // otherwise the new team's approvers would decide on the old team's request
		return Change{}, Fail(Conflict, fmt.Sprintf("%s is waiting for approval by team %s, and no other team can give it. Get it approved first, or create a cluster in team %s.",
			row.Card.Name, row.Card.Team, team))
	}
	var check policy.Check
	err := write(func(u usage.Usage, moves usage.Counts) (limits []lifecycle.Limit, err error) {
		held := policy.Held{NodeHours: moves.NodeHours, Cents: moves.SpentCents + moves.CommittedCents, Creating: row.Status != lifecycle.Ready, From: row.Team}
		check = policy.JudgeTransfer(team, held, ToPolicyUsage(u), catalogue.Catalogue)
		if check.Result == policy.Fail {
			return nil, Fail(Conflict, fmt.Sprintf("%s cannot be transferred to team %s: %s", row.Name, team, messages.CheckText(check)))
		}
		for _, l := range policy.TeamLimits(team, catalogue.Catalogue) {
			limits = append(limits, lifecycle.Limit(l))
		}
		return limits, nil
	})
	var full *Error
	if errors.As(err, &full) {
		return Change{}, full
	}
	now, err := s.clusterAfter(ctx, row, err, messages.EndedBeforeTransfer(row.Name))
	if err != nil {
		return Change{}, err
	}
	return Change{Row: now, Message: sayTransferred(row.Card, now.Card, check)}, nil
}

// newHolder returns what is wrong with the new team and owner of a cluster.
func newHolder(p policy.Principal, team, owner string, c profiles.Catalogue) (wrong []Field) {
	teams := teamsOpenTo(p, c)
	_, known, declared := c.Team(team)
	switch {
	case !p.May(policy.ActCreate, team): // the principal must not learn whether a team of others exists
		wrong = append(wrong, ProblemOf("team", messages.Problem{fmt.Sprintf("you may not create clusters for team %q, so you cannot transfer one to it", team), teams}))
	case declared && !known || !profiles.TeamName(team):
		wrong = append(wrong, ProblemOf("team", messages.UnknownTeam(team, teams)))
	}
	if problem := profiles.TagValueProblem(owner); problem != "" {
		wrong = append(wrong, ProblemOf("owner", messages.NotAnOwner(owner, problem)))
	}
	return wrong
}

// teamsOpenTo returns the teams that somebody may create clusters for, as far as they can be listed.
func teamsOpenTo(p policy.Principal, c profiles.Catalogue) []string {
	teams, every := p.Teams(policy.RolesFor(policy.ActCreate)...)
	if every {
		for _, t := range c.Teams {
			teams = append(teams, t.Name)
		}
	}
	return teams
}

// sayTransferred says to whom a cluster belongs now, and what the check warns about.
func sayTransferred(before, now lifecycle.Card, check policy.Check) string {
	text := fmt.Sprintf("%s now belongs to team %s, and its owner is %s.", now.Name, now.Team, now.Owner)
	switch {
	case before.Team == now.Team && before.Owner == now.Owner:
		return fmt.Sprintf("%s already belongs to team %s, and its owner is %s. Nothing was changed.", now.Name, now.Team, now.Owner)
	case before.Team == now.Team:
		text = fmt.Sprintf("%s stays with team %s, and its owner is now %s.", now.Name, now.Team, now.Owner)
	}
	if check.Result == policy.Warn {
		text += " " + messages.CheckText(check)
	}
	return text + " The cloud tags keep their original values."
}
