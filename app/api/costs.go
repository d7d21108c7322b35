package api

import (
	"cmp"
	"context"
	"io"
	"net/http"

	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/internal/download"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/reports"
)

// ReportUsage implements GET /api/v1/reports/usage.
func (s *server) ReportUsage(w http.ResponseWriter, r *http.Request, params ReportUsageParams) {
	q := s.query(r)
	f := reports.ReportFilter{By: cmp.Or(params.By, "team")}
	f.From, f.To = q.span(params.From, params.To)
	if err := q.err(); err != nil {
		s.fail(w, r, err)
		return
	}
	of, lines, err := s.Costs.Usage(r.Context(), principal(r), f)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	out := UsageReport{By: of.By, From: of.From.UTC(), To: of.To.UTC(), Estimate: true, Items: []UsageLine{}}
	for _, l := range lines {
		one := usageLine(l)
		out.Items = append(out.Items, one)
		out.Total.Clusters += one.Clusters
		out.Total.Ready += one.Ready
		out.Total.ClusterHours += one.ClusterHours
		out.Total.NodeHours += one.NodeHours
		out.Total.Cents += one.Cents
		out.Total.SavedCents += one.SavedCents
	}
	ok(w, out)
}

func usageLine(l reports.ReportLine) UsageLine {
	return UsageLine{Key: l.Key, Clusters: l.Clusters, Ready: l.Ready, ClusterHours: float32(l.ClusterHours), NodeHours: float32(l.NodeHours), Cents: l.Cents, SavedCents: l.SavedCents}
}

// ReportForecast implements GET /api/v1/reports/forecast.
func (s *server) ReportForecast(w http.ResponseWriter, r *http.Request, params ReportForecastParams) {
	f, err := s.Costs.Forecast(r.Context(), principal(r), cmp.Or(params.By, "team"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	out := Forecast{By: f.By, Month: f.Month, End: f.End, At: f.Now, Items: []ForecastLine{}, Total: forecastLine(f.Total)}
	for _, l := range f.Lines {
		out.Items = append(out.Items, forecastLine(l))
	}
	ok(w, out)
}

func forecastLine(l costs.ForecastLine) ForecastLine {
	return ForecastLine{
		Key: l.Key, Clusters: l.Clusters, SpentCents: l.Spent, ToComeCents: l.ToCome, ForecastCents: l.Month(), CommittedCents: l.Committed,
		BudgetCents: l.Budget.MonthlyCents, BudgetHard: l.Budget.Hard, Reached: l.Reached,
	}
}

// ReportActual implements GET /api/v1/reports/actual.
func (s *server) ReportActual(w http.ResponseWriter, r *http.Request, params ReportActualParams) {
	q := s.query(r)
	f := reports.ReportFilter{By: cmp.Or(params.By, "team")}
	f.From, f.To = q.span(params.From, params.To)
	if err := q.err(); err != nil {
		s.fail(w, r, err)
		return
	}
	a, err := s.Costs.Actual(r.Context(), principal(r), f)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	out := ActualReport{By: a.By, From: a.From, To: a.To, Items: []ActualLine{}, Total: actualLine(a.Total), LateCents: a.Late, UnknownCents: a.Unknown, UntaggedCents: a.Untagged}
	for _, l := range a.Lines {
		out.Items = append(out.Items, actualLine(l))
	}
	ok(w, out)
}

func actualLine(l costs.ActualLine) ActualLine {
	percent, _ := l.Error()
	return ActualLine{Key: l.Key, Clusters: l.Clusters, Billed: l.Billed, EstimateCents: l.Estimate, ActualCents: l.Actual, ErrorPercent: float32(percent)}
}

// ReportChargeback implements GET /api/v1/reports/chargeback.
func (s *server) ReportChargeback(w http.ResponseWriter, r *http.Request, params ReportChargebackParams) {
	s.costFile(w, r, "chargeback.csv", params.From, params.To, s.Costs.Chargeback)
}

// ReportFocus implements GET /api/v1/reports/focus.
func (s *server) ReportFocus(w http.ResponseWriter, r *http.Request, params ReportFocusParams) {
	s.costFile(w, r, "focus.csv", params.From, params.To, s.Costs.Focus)
}

// costFile sends a file of charges while it is read. A read error after the first byte breaks the connection, which no reader takes for the
// end.
func (s *server) costFile(w http.ResponseWriter, r *http.Request, name string, from From, to To,
	write func(context.Context, policy.Principal, reports.ReportFilter, io.Writer) error,
) {
	q := s.query(r)
	var f reports.ReportFilter
	f.From, f.To = q.span(from, to)
	if err := q.err(); err != nil {
		s.fail(w, r, err)
		return
	}
	leave, found := s.places.take(principal(r).ID)
	if !found {
		tooManyStreams(w)
		return
	}
	defer leave()
	begun, err := download.Send(w, name, "text/csv; charset=utf-8", func(out io.Writer) error { return write(r.Context(), principal(r), f, out) })
	switch {
	case err != nil && begun:
		s.Log.ErrorContext(r.Context(), "cost file broken off", "request", visitOf(r).id, "file", name, "err", err)
		panic(http.ErrAbortHandler)
	case err != nil:
		s.fail(w, r, err)
	}
}
