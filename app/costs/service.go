// Package costs reports what clusters cost: used, to come, against budgets, by the cloud's bill, and as files for accounting. It reads the
// bill, and tells people about budgets that are reached while nobody asks for anything. It decides about no request: policy does.
package costs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
)

// Service implements these use cases. It is safe for concurrent use.
type Service struct {
	store        *store.Store
	catalogue    func() catalogue.Catalogue
	installation string
	log          *slog.Logger
}

// New returns a Service.
func New(c app.Config) *Service {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Service{store: c.Store, catalogue: c.Catalogue, installation: c.Policy.Installation, log: log}
}

// Usage reports hours and cost of the principal's teams by list prices. Without times it covers this month so far.
func (s *Service) Usage(ctx context.Context, p policy.Principal, f reports.ReportFilter) (reports.ReportFilter, []reports.ReportLine, error) {
	f, err := s.limitPeriod(ctx, p, f)
	if err != nil {
		return f, nil, err
	}
	lines, err := s.readReport(ctx, f)
	if err == nil && f.By == "cluster" {
		err = s.nameClusters(ctx, lines)
	}
	return f, lines, err
}

// nameClusters adds the clusters' names to a report by cluster.
func (s *Service) nameClusters(ctx context.Context, lines []reports.ReportLine) error {
	ids := make([]string, len(lines))
	for i, l := range lines {
		ids[i] = l.Key
	}
	names, err := s.store.ClusterNames(ctx, ids)
	for i := range lines {
		lines[i].Name = names[lines[i].Key]
	}
	return err
}

// limitPeriod limits a filter to what the principal may see, and to the past. Without times it is this month so far.
func (s *Service) limitPeriod(ctx context.Context, p policy.Principal, f reports.ReportFilter) (reports.ReportFilter, error) {
	if err := app.MayForEverybody(p, policy.ActReports, messages.ToReadReports); err != nil {
		return f, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return f, fmt.Errorf("read the clock: %w", err)
	}
	if f.To.IsZero() || f.To.After(now) {
		f.To = now.UTC()
	}
	if f.From.IsZero() {
		f.From = monthOf(f.To)
	}
	f.Teams = p.TeamsFor(policy.ActReports)
	return f, nil
}

func (s *Service) readReport(ctx context.Context, f reports.ReportFilter) ([]reports.ReportLine, error) {
	lines, err := s.store.Reports.UsageReport(ctx, f)
	if errors.Is(err, db.ErrConflict) {
		return nil, noReport(f)
	}
	if err != nil {
		return nil, fmt.Errorf("report usage: %w", err)
	}
	return lines, nil
}

func noReport(f reports.ReportFilter) error {
	problem := messages.Problem{fmt.Sprintf("%q, from %s to %s", f.By, chatops.Time(f.From), chatops.Time(f.To)), []string{
		strings.Join(reports.Groups, ", ") + " or tag:<key>", "from before to"}}
	return &app.Error{Kind: app.Invalid, Message: messages.NoReport, Fields: []app.Field{app.ProblemOf("by", problem)}}
}

func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}
