package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/statistics"
)

const (
	// usualPeriod is what a summary covers if nobody says from when.
	usualPeriod = 30 * 24 * time.Hour
	// longestPeriod bounds the work for one summary.
	longestPeriod = 2 * 366 * 24 * time.Hour
	// mostSpenders is how many owners a summary names.
	mostSpenders = 20
)

// SummaryFilter selects what a summary is about.
type SummaryFilter struct {
	From, To time.Time // From is in, To is not; zero: the last 30 days, until now
	Team     string    // empty: all teams that the principal may see
}

// Summary is what became of clusters, and which there are now.
type Summary struct {
	statistics.Summary
	From, To time.Time            // what it covers
	Spenders []reports.ReportLine // the owners whose clusters cost the most, at most 20
	Saved    int64                // cents that clusters that slept would have cost more awake
}

// Summary reports on the clusters of the principal's teams, or on those of one of them.
func (s *Service) Summary(ctx context.Context, p policy.Principal, f SummaryFilter) (Summary, error) {
	if err := app.MayForEverybody(p, policy.ActReports, messages.ToReadReports); err != nil {
		return Summary{}, err
	}
	teams := p.TeamsFor(policy.ActReports)
	if f.Team != "" {
		if !p.May(policy.ActReports, f.Team) { // the principal must not learn whether a team of others exists
			return Summary{}, app.Fail(app.Denied, fmt.Sprintf("The team %q does not exist, or you may not read its report. Leave out the team to read the report of your own teams.", f.Team))
		}
		teams = []string{f.Team}
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return Summary{}, fmt.Errorf("read the clock: %w", err)
	}
	if f.To.IsZero() || f.To.After(now) {
		f.To = now.UTC()
	}
	if f.From.IsZero() {
		f.From = f.To.Add(-usualPeriod)
	}
	if took := f.To.Sub(f.From); took <= 0 || took > longestPeriod {
		return Summary{}, &app.Error{Kind: app.Invalid, Message: messages.NoReport, Fields: []app.Field{app.ProblemOf("from", messages.Problem{fmt.Sprintf("from %s to %s", chatops.Time(f.From), chatops.Time(f.To)), []string{"a time before the end, at most two years before it"}})}}
	}
	sum := Summary{From: f.From, To: f.To}
	if sum.Summary, err = s.store.Statistics.Summary(ctx, statistics.Filter{From: f.From, To: f.To, Teams: teams}); err != nil {
		return Summary{}, fmt.Errorf("summarize: %w", err)
	}
	lines, err := s.store.Reports.UsageReport(ctx, reports.ReportFilter{From: f.From, To: f.To, By: "owner", Teams: teams})
	if err != nil {
		return Summary{}, fmt.Errorf("report usage: %w", err)
	}
	for _, l := range lines { // the most expensive first
		sum.Saved += l.SavedCents
		if l.Cents > 0 && len(sum.Spenders) < mostSpenders {
			sum.Spenders = append(sum.Spenders, l)
		}
	}
	return sum, nil
}
