package slack

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// The most that Home shows of each: Slack allows 100 blocks. The web pages show the rest.
const (
	homeMine       = 8
	homeTeam       = 8
	homeApprovals  = 5
	homeAllowances = 10
	homeLooksAt    = 50 // approvals that are looked through for those that wait for this person
)

// homeView reads what a person's Home shows: their clusters, their teams', what waits for their approval, and what they may still
// request.
func (s *Service) homeView(ctx context.Context, p policy.Principal) (blocks.HomeView, error) {
	v := blocks.HomeView{Name: s.nameOf(task{by: p}), Linked: true, Acts: map[string][]chatops.Verb{}, Links: s.chatLinks()}
	var err error
	if v.Now, err = s.store.Now(ctx); err != nil {
		return v, fmt.Errorf("read the clock: %w", err)
	}
	mine, moreMine, err := s.core.List(ctx, p, s.core.OwnedBy(p, store.Filter{Current: true, Limit: homeMine}))
	if err != nil {
		return v, err
	}
	all, moreAll, err := s.core.List(ctx, p, store.Filter{Current: true, Limit: homeMine + homeTeam})
	if err != nil {
		return v, err
	}
	team := slices.DeleteFunc(all, func(row clusters.Row) bool {
		return slices.ContainsFunc(mine, func(m clusters.Row) bool { return m.ID == row.ID })
	})
	v.More = moreMine != "" || moreAll != "" || len(team) > homeTeam
	if err := s.markReplaced(ctx, mine, team); err != nil {
		return v, err
	}
	for _, row := range mine {
		v.Mine = append(v.Mine, row.Card)
	}
	for _, row := range team[:min(len(team), homeTeam)] {
		v.Team = append(v.Team, row.Card)
	}
	for _, row := range slices.Concat(mine, team[:min(len(team), homeTeam)]) {
		actions, err := s.core.Actions(ctx, p, row)
		if err != nil {
			return v, err
		}
		v.Acts[row.ID] = chatops.VerbsOf(actions)
	}
	if v.Approvals, err = s.mayApprove(ctx, p); err != nil {
		return v, err
	}
	lookalikes, err := s.credentials.Lookalikes(ctx, p)
	if err != nil {
		return v, err
	}
	for _, account := range lookalikes {
		v.Lookalikes = append(v.Lookalikes, s.core.NameOf(account))
	}
	v.Allowances, err = s.listAllowances(ctx, p)
	return v, err
}

// markReplaced notes in the rows of clusters that end or ended which cluster was requested again in their place. Lists do not have it.
func (s *Service) markReplaced(ctx context.Context, lists ...[]clusters.Row) error {
	var ids []string
	for _, row := range slices.Concat(lists...) {
		if row.Desired != lifecycle.Present && row.PR == nil {
			ids = append(ids, row.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	made, err := s.store.Successors(ctx, ids...)
	for _, list := range lists {
		for i := range list {
			list[i].ReplacedBy = made[list[i].ID].Name
		}
	}
	return err
}

// mayApprove returns what waits for an approval that this person may give.
func (s *Service) mayApprove(ctx context.Context, p policy.Principal) (list []chatops.Waiting, err error) {
	page, _, err := s.core.Approvals(ctx, p, store.ApprovalFilter{State: clusters.ApprovalPending, Limit: homeLooksAt})
	if err != nil {
		return nil, err
	}
	for _, a := range page {
		if a.WhyNot == "" && len(list) < homeApprovals {
			list = append(list, s.toWaiting(a, s.requesterName(ctx, a)))
		}
	}
	return list, nil
}

// listAllowances returns the limits that apply to the person and their teams, with what is left of each.
func (s *Service) listAllowances(ctx context.Context, p policy.Principal) (out []blocks.Allowance, err error) {
	quotas, err := s.admin.Quotas(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, q := range quotas {
		out = append(out, allowancesOf(q)...)
	}
	teams, err := s.admin.Teams(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, t := range teams {
		if t.Budget.MonthlyCents > 0 {
			sum := t.Spent + t.Committed
			out = append(out, blocks.Allowance{
				Name: "Budget this month, team " + t.Name, Used: price.Dollars(sum), Limit: price.Dollars(t.Budget.MonthlyCents), Left: price.Dollars(max(0, t.Budget.MonthlyCents-sum)),
			})
		}
	}
	return out[:min(len(out), homeAllowances)], nil
}

func allowancesOf(q admin.QuotaState) (out []blocks.Allowance) {
	for _, bound := range []struct {
		name       string
		used, most int
	}{
		{messages.LiveOf(string(q.Scope), q.Key), q.Used.Live, q.MostLive()},
		{messages.CreatingOf(string(q.Scope), q.Key), q.Used.Creating, q.Creating},
		{messages.NodeHoursOf(string(q.Scope), q.Key), int(math.Ceil(q.Used.NodeHours)), q.NodeHours},
	} {
		if bound.most > 0 {
			out = append(out, blocks.Allowance{
				Name: bound.name, Used: strconv.Itoa(bound.used), Limit: strconv.Itoa(bound.most), Left: strconv.Itoa(max(0, bound.most-bound.used)),
			})
		}
	}
	return out
}
