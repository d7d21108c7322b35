package costs

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/ocpctl/ocpctl/internal/focus"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/costs"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
)

// chargebackColumns are the columns of a chargeback file.
var chargebackColumns = []string{
	"from", "to", "team", "cost_center", "owner", "environment", "repository", "pull_request", "run", "profile", "platform", "region",
	"cluster_id", "cluster_name", "cluster_hours", "node_hours", "estimated_usd", "saved_usd", "actual_usd",
}

// Chargeback writes a CSV file with a line for each cluster of the principal's teams that cost something, and another for what a claimed one cost
// in its pool. Amounts are dollars by list prices, rounded as in every report; saved_usd is what sleeping saved of it, and actual_usd what the
// cloud billed for the same days. That is empty if nothing was billed, and everywhere unless the times are whole days (UTC) that the bill tells
// of: a bill knows only days.
func (s *Service) Chargeback(ctx context.Context, p policy.Principal, f reports.ReportFilter, w io.Writer) error {
	f, err := s.limitPeriod(ctx, p, f)
	if err != nil {
		return err
	}
	if !f.From.Before(f.To) {
		return noReport(f)
	}
	bill, err := s.store.Costs.Bill(ctx, costs.Filter{From: f.From, To: f.To, Teams: f.Teams})
	if err != nil {
		return err
	}
	billed := isMidnight(f.From) && isMidnight(f.To) && !f.From.Before(bill.Since) && !f.To.After(bill.Through)
	file := &chargeback{out: csv.NewWriter(w), from: f.From, to: f.To, billed: billed}
	if err := file.out.Write(chargebackColumns); err != nil {
		return err
	}
	if err := s.eachCharge(ctx, f, file.addCharge); err != nil {
		return err
	}
	return file.closeFile()
}

func isMidnight(at time.Time) bool { return at.Equal(at.UTC().Truncate(24 * time.Hour)) }

// eachCharge passes on what a filter's clusters cost.
func (s *Service) eachCharge(ctx context.Context, f reports.ReportFilter, each func(costs.Charge) error) error {
	err := s.store.Costs.Charges(ctx, costs.Filter{From: f.From, To: f.To, Teams: f.Teams}, each)
	if errors.Is(err, db.ErrConflict) {
		return noReport(f)
	}
	return err
}

// chargeback sums up the charges of a line, which come one after the other.
type chargeback struct {
	out      *csv.Writer
	from, to time.Time
	billed   bool // the bill tells of the whole time

	now        costs.Charge
	ms, nodeMS int64
	amount     price.Amount
	saved      price.Amount
}

func (b *chargeback) addCharge(c costs.Charge) error {
	if c.Cluster != b.now.Cluster || c.Waited != b.now.Waited {
		if err := b.writeLine(); err != nil {
			return err
		}
		b.ms, b.nodeMS, b.amount, b.saved = 0, 0, 0, 0
	}
	b.now = c
	b.ms += c.Millis
	b.nodeMS += c.Millis * int64(c.Machines)
	b.amount += c.Amount()
	b.saved += c.Saved()
	return nil
}

func (b *chargeback) writeLine() error {
	c := b.now
	if c.Cluster == "" {
		return nil
	}
	actual := ""
	if b.billed && c.BilledNanos != nil {
		actual = formatDollars(roundToCents(*c.BilledNanos))
	}
	texts := []string{
		formatStamp(b.from), formatStamp(b.to), c.Team, c.CostCenter, c.Owner, c.Environment, c.Repository, c.PullRequest, c.Run, c.Profile, c.Platform, c.Region,
		c.Cluster, c.Name,
	}
	for i := range texts {
		texts[i] = focus.Harmless(texts[i])
	}
	return b.out.Write(append(texts, formatHours(b.ms), formatHours(b.nodeMS), formatDollars(b.amount.Cents()), formatDollars(b.saved.Cents()), actual))
}

func (b *chargeback) closeFile() error {
	if err := b.writeLine(); err != nil {
		return err
	}
	b.out.Flush()
	return b.out.Error()
}

func formatHours(ms int64) string {
	return strconv.FormatFloat(float64(ms)/float64(price.PerHour), 'f', 4, 64)
}

func formatDollars(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

func formatStamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Focus writes a file in the FinOps Open Cost and Usage Specification: a line for each cluster of the principal's teams, day and rate.
func (s *Service) Focus(ctx context.Context, p policy.Principal, f reports.ReportFilter, w io.Writer) error {
	f, err := s.limitPeriod(ctx, p, f)
	if err != nil {
		return err
	}
	if !f.From.Before(f.To) {
		return noReport(f)
	}
	out, err := focus.NewWriter(w)
	if err != nil {
		return err
	}
	catalogue := s.catalogue()
	err = s.eachCharge(ctx, f, func(c costs.Charge) error {
		prices, _ := catalogue.PriceList(c.Platform)
		team, _, _ := catalogue.Team(c.Team)
		name := team.DisplayName
		if name == "" {
			name = c.Team
		}
		return out.Write(focus.Charge{
			Installation: s.installation, Day: c.Day.UTC(), HourlyCents: c.HourlyCents, Millis: c.Millis, Machines: c.Machines, SavedHourlyCents: c.SavedHourlyCents, Stopped: c.Stopped,
			Cluster: c.Cluster, Name: c.Name, Platform: c.Platform, Profile: c.Profile, Region: c.Region, RegionName: prices.RegionName(c.Region),
			Team: c.Team, TeamName: name, Owner: c.Owner, CostCenter: c.CostCenter, Environment: c.Environment,
			Repository: c.Repository, PullRequest: c.PullRequest, Run: c.Run, Tags: c.Tags, UserTags: c.UserTags,
		})
	})
	if err != nil {
		return err
	}
	return out.Close()
}
