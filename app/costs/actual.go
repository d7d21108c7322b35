package costs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/internal/cur"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/costs"
	"github.com/ocpctl/ocpctl/store/reports"
)

// Actual compares the estimate with what the cloud billed, in US cents, over whole days (UTC) that the bill tells of.
type Actual struct {
	By       string
	From, To time.Time // within the bill's unbroken days; its last day is still growing and not among them
	Lines    []ActualLine
	Total    ActualLine

	Late     int64 // billed for clusters that had ended before
	Unknown  int64 // billed for clusters that are not in the database
	Untagged int64 // billed without a cluster's tag; 0 for whoever does not see all teams, as is Unknown
}

// ActualLine is one group.
type ActualLine struct {
	Key              string
	Clusters, Billed int // Billed: how many of them the bill names
	Estimate, Actual int64
}

// Error is by how much the estimate differs from the bill, in percent of the bill. Unknown: nothing was billed.
func (l ActualLine) Error() (percent float64, known bool) {
	if l.Actual == 0 {
		return 0, false
	}
	return math.Round(float64(l.Estimate-l.Actual)*1000/math.Abs(float64(l.Actual))) / 10, true
}

// billedPlatform is the only cloud whose bill can be read.
const billedPlatform = "aws"

// Actual compares the principal's teams. Without times it covers this month so far. NotFound: no bill was read.
func (s *Service) Actual(ctx context.Context, p policy.Principal, f reports.ReportFilter) (Actual, error) {
	f, err := s.limitPeriod(ctx, p, f)
	if err != nil {
		return Actual{}, err
	}
	f.From, f.Platform = f.From.UTC().Truncate(24*time.Hour), billedPlatform
	if !f.From.Before(f.To) {
		return Actual{}, noReport(f)
	}
	of := costs.Filter{From: f.From, To: f.To, Teams: f.Teams}
	bill, err := s.store.Costs.Bill(ctx, of)
	if err != nil {
		return Actual{}, err
	}
	if bill.Through.IsZero() {
		return Actual{}, app.Fail(app.NotFound, "The server has not read a billing export, so actual costs are not known. Ask an administrator to set bill in its configuration.")
	}
	if f.From.Before(bill.Since) {
		f.From = bill.Since
	}
	f.To = f.To.UTC().Truncate(24 * time.Hour)
	if f.To.After(bill.Through) {
		f.To = bill.Through
	}
	out := Actual{By: f.By, From: f.From, To: f.To}
	if !f.From.Before(f.To) {
		return out, nil // the bill does not tell of these days
	}
	of.From, of.To = f.From, f.To
	if bill, err = s.store.Costs.Bill(ctx, of); err != nil {
		return out, err
	}
	lines, err := s.readReport(ctx, f)
	if err != nil {
		return out, err
	}
	known := int64(0)
	for _, l := range lines {
		out.Lines = append(out.Lines, ActualLine{l.Key, l.Clusters, l.Billed, l.Cents, roundToCents(l.ActualNanos)})
		out.Total.Clusters, out.Total.Billed = out.Total.Clusters+l.Clusters, out.Total.Billed+l.Billed
		out.Total.Estimate += l.Cents
		known += l.ActualNanos
	}
	out.Total.Actual, out.Late = roundToCents(known), roundToCents(bill.Known-known)
	out.Unknown, out.Untagged = roundToCents(bill.Unknown), roundToCents(bill.Untagged)
	return out, nil
}

// roundToCents rounds billionths of a dollar half away from zero.
func roundToCents(nanos int64) int64 { return int64(math.Round(float64(nanos) / 1e7)) }

// Bill is the cloud's bill: cur.Export.
type Bill interface {
	fmt.Stringer
	Deliveries(ctx context.Context) ([]cur.Delivery, error)
	Read(ctx context.Context, d cur.Delivery) (cur.Bill, error)
}

// ReadBill stores what is new of a bill. A delivery replaces everything that was known of its period in one transaction, so a crash leaves
// the one before. A period that cannot be read does not hold up the others.
func (s *Service) ReadBill(ctx context.Context, b Bill) error {
	stored, err := s.store.Costs.Deliveries(ctx, b.String())
	if err != nil {
		return err
	}
	read := map[string]string{}
	for _, d := range stored {
		read[d.Period.UTC().Format("2006-01")] = d.ID
	}
	found, err := b.Deliveries(ctx)
	if err != nil {
		return err
	}
	var failed error
	for _, d := range found {
		if read[d.Period.Format("2006-01")] == d.ID {
			continue
		}
		failed = errors.Join(failed, s.readDelivery(ctx, b, d))
	}
	return failed
}

func (s *Service) readDelivery(ctx context.Context, b Bill, d cur.Delivery) error {
	read, err := b.Read(ctx, d)
	if errors.Is(err, cur.ErrWrittenAgain) {
		s.log.InfoContext(ctx, "bill is read at the next look", "export", b.String(), "period", d.Period.Format("2006-01"), "err", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the bill of %s: %w", d.Period.Format("2006-01"), err)
	}
	var billed []costs.Billed
	for _, one := range read.Billed {
		billed = append(billed, costs.Billed(one))
	}
	if err := s.store.Costs.SaveBilled(ctx, costs.Delivery{Export: b.String(), Period: d.Period, ID: d.ID}, read.Lines, billed); err != nil {
		return err
	}
	s.log.InfoContext(ctx, "bill read", "export", b.String(), "period", d.Period.Format("2006-01"), "lines", read.Lines)
	return nil
}
