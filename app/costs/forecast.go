package costs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Forecast is a month: what was spent, and what comes if nothing is requested or ended any more. Amounts are US cents by list prices.
type Forecast struct {
	By              string
	Month, Now, End time.Time // End is the start of the next month
	Lines           []ForecastLine
	Total           ForecastLine
}

// ForecastLine is one group of a forecast.
type ForecastLine struct {
	Key       string
	Clusters  int
	Spent     int64 // this month so far
	ToCome    int64 // until the clusters' planned ends, or the month's end
	Committed int64 // until the clusters' planned ends, also after the month's end; policy compares it with the budget, together with Spent

	Budget  profiles.Budget // of the team, by team only; the zero value: none
	Reached []int           // the parts of the budget, in percent, that Spent and Committed reach
}

// Month is what the month will cost.
func (l ForecastLine) Month() int64 { return l.Spent + l.ToCome }

// Forecast returns the current month of the principal's teams, the dearest group first. By team it includes teams that have a budget and no
// clusters.
func (s *Service) Forecast(ctx context.Context, p policy.Principal, by string) (Forecast, error) {
	f, err := s.limitPeriod(ctx, p, reports.ReportFilter{By: by})
	if err != nil {
		return Forecast{}, err
	}
	out := Forecast{By: by, Month: f.From, Now: f.To, End: f.From.AddDate(0, 1, 0)}
	f.Until = out.End
	var lines []reports.ReportLine
	if f.From.Before(f.To) { // not in the month's first instant
		if lines, err = s.readReport(ctx, f); err != nil {
			return out, err
		}
	}
	for _, l := range lines {
		one := ForecastLine{Key: l.Key, Clusters: l.Clusters, Spent: l.Cents, ToCome: l.ToComeCents, Committed: l.CommittedCents}
		out.Lines = append(out.Lines, one)
		out.Total.Clusters += one.Clusters
		out.Total.Spent += one.Spent
		out.Total.ToCome += one.ToCome
		out.Total.Committed += one.Committed
	}
	if by == "team" {
		s.addBudgets(&out, f.Teams)
	}
	slices.SortStableFunc(out.Lines, func(a, b ForecastLine) int { return int(b.Month() - a.Month()) })
	return out, nil
}

// addBudgets adds the teams' budgets.
func (s *Service) addBudgets(out *Forecast, teams []string) {
	for _, t := range s.catalogue().Teams {
		if t.Budget.MonthlyCents == 0 || teams != nil && !slices.Contains(teams, t.Name) {
			continue
		}
		i := slices.IndexFunc(out.Lines, func(l ForecastLine) bool { return l.Key == t.Name })
		if i < 0 {
			i = len(out.Lines)
			out.Lines = append(out.Lines, ForecastLine{Key: t.Name})
		}
		l := &out.Lines[i]
		l.Budget, l.Reached = t.Budget, policy.BudgetReached(t.Budget, l.Spent+l.Committed)
	}
}

// AnnounceBudgets tells people about the parts of budgets that are reached, each once a month. A request tells of those that it reaches; the
// others are reached by time alone: a month begins with clusters that are promised already, or a budget is lowered.
func (s *Service) AnnounceBudgets(ctx context.Context) error {
	var all []usage.Threshold
	for _, t := range s.catalogue().Teams {
		if t.Budget.MonthlyCents == 0 {
			continue
		}
		used, err := s.store.Usage(ctx, usage.Scope{Team: t.Name})
		if err != nil {
			return fmt.Errorf("count what team %s uses: %w", t.Name, err)
		}
		sum := used.Team.SpentCents + used.Team.CommittedCents
		for _, percent := range policy.BudgetReached(t.Budget, sum) {
			all = append(all, usage.Threshold{Team: t.Name, Percent: percent, Cents: sum, Budget: t.Budget.MonthlyCents})
		}
	}
	return s.store.Costs.AnnounceBudgets(ctx, all)
}
