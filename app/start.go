package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/reports"
)

// How much a start shows.
const (
	mostVotes = 100 // approvals that are looked through
	mostMine  = 50  // clusters of the person, those that end first
	mostTeam  = 10  // others that they may see, the newest
)

// Start is what a person sees first: what waits for them, and what is theirs.
type Start struct {
	Votes    []Approval // pending, and the person's vote would count
	Asked    []Approval // that the person asked for and that others decide; pending
	Mine     []clusters.Row
	MoreMine bool
	Others   []clusters.Row // of their teams, or shared with them
	More     bool           // there are more of these
	Findings []reports.FindingRow
	SetUp    store.SetUp
}

// Start returns what a person sees first. Everything in it is read from an index, however many clusters there are.
func (s *Service) Start(ctx context.Context, p policy.Principal) (out Start, err error) {
	mine := filter.Mine(s.readerOf(p))
	others := filter.Query{}
	if len(p.Seats) > 0 {
		others = filter.NotMine(s.readerOf(p))
	}
	rows, next, err := s.List(ctx, p, store.Filter{Query: others, Current: true, Limit: mostTeam})
	if err != nil {
		return Start{}, err
	}
	out.Others, out.More = rows, next != ""
	if len(p.Seats) == 0 { // they see what is shared with them, and nothing is theirs
		return out, nil
	}
	byEnd := mine
	byEnd.Order = "ends"
	if out.Mine, next, err = s.List(ctx, p, store.Filter{Query: byEnd, Current: true, Limit: mostMine}); err != nil {
		return Start{}, err
	}
	out.MoreMine = next != ""
	if out.Findings, err = s.findingsOf(ctx, p, mine); err != nil {
		return Start{}, err
	}
	return out, s.addOwn(ctx, p, &out)
}

// addOwn adds the approvals that concern the person, and what they have done so far.
func (s *Service) addOwn(ctx context.Context, p policy.Principal, out *Start) error {
	identities, err := s.store.IdentitiesOf(ctx, p.ID)
	if err != nil {
		return fmt.Errorf("look for the identities of a person: %w", err)
	}
	pending, _, err := s.Approvals(ctx, p, store.ApprovalFilter{State: clusters.ApprovalPending, Limit: mostVotes})
	if err != nil {
		return err
	}
	for _, a := range pending {
		switch {
		case a.MayVote:
			out.Votes = append(out.Votes, a)
		case slices.Contains(identities, profiles.IdentityKey(a.RequestedBy)):
			out.Asked = append(out.Asked, a)
		}
	}
	out.SetUp, err = s.store.SetUpOf(ctx, identities)
	return err
}

// findingsOf returns the open findings about the clusters of a query that the person may see.
func (s *Service) findingsOf(ctx context.Context, p policy.Principal, q filter.Query) ([]reports.FindingRow, error) {
	rows, _, err := s.List(ctx, p, store.Filter{Query: q, Found: true, Limit: mostMine})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	f := reports.FindingFilter{Newest: true}
	for _, row := range rows {
		f.Clusters = append(f.Clusters, row.ID)
	}
	found, err := s.store.Reports.Findings(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	return found, nil
}

// CountVotes returns how many pending approvals wait for the person's vote, of the newest hundred. It reads little, because every page asks.
func (s *Service) CountVotes(ctx context.Context, p policy.Principal) (n int, err error) {
	teams, every := p.Teams(votingRoles(string(policy.Requester))...)
	if every {
		teams = nil
	} else if len(teams) == 0 {
		return 0, nil
	}
	pending, err := s.store.OpenVotes(ctx, p.ID, teams, mostVotes)
	for _, a := range pending {
		if s.mayVote(p, a) == nil {
			n++
		}
	}
	return n, err
}
