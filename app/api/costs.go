package api

import (
	"cmp"
	"context"
	"io"
	"net/http"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/internal/download"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/reports"
)

// ReportUsage implements GET /api/v1/reports/usage.
func (s *server) ReportUsage(w http.ResponseWriter, r *http.Request, params v1.ReportUsageParams) {
	q := s.newQuery(r)
	f := reports.ReportFilter{By: cmp.Or(params.By, "team")}
	f.From, f.To = q.checkSpan(params.From, params.To)
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	of, lines, err := s.Costs.Usage(r.Context(), principal(r), f)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.UsageReport{By: of.By, From: of.From.UTC(), To: of.To.UTC(), Estimate: true, Items: []v1.UsageLine{}}
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
	writeOK(w, out)
}

func usageLine(l reports.ReportLine) v1.UsageLine {
	return v1.UsageLine{Key: l.Key, Name: l.Name, Clusters: l.Clusters, Ready: l.Ready, ClusterHours: float32(l.ClusterHours), NodeHours: float32(l.NodeHours), Cents: l.Cents, SavedCents: l.SavedCents}
}

// ReportForecast implements GET /api/v1/reports/forecast.
func (s *server) ReportForecast(w http.ResponseWriter, r *http.Request, params v1.ReportForecastParams) {
	f, err := s.Costs.Forecast(r.Context(), principal(r), cmp.Or(params.By, "team"))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.Forecast{By: f.By, Month: f.Month, End: f.End, At: f.Now, Items: []v1.ForecastLine{}, Total: forecastLine(f.Total)}
	for _, l := range f.Lines {
		out.Items = append(out.Items, forecastLine(l))
	}
	writeOK(w, out)
}

func forecastLine(l costs.ForecastLine) v1.ForecastLine {
	return v1.ForecastLine{
		Key: l.Key, Clusters: l.Clusters, SpentCents: l.Spent, ToComeCents: l.ToCome, ForecastCents: l.Month(), CommittedCents: l.Committed,
		BudgetCents: l.Budget.MonthlyCents, BudgetHard: l.Budget.Hard, Reached: l.Reached,
	}
}

// ReportActual implements GET /api/v1/reports/actual.
func (s *server) ReportActual(w http.ResponseWriter, r *http.Request, params v1.ReportActualParams) {
	q := s.newQuery(r)
	f := reports.ReportFilter{By: cmp.Or(params.By, "team")}
	f.From, f.To = q.checkSpan(params.From, params.To)
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	a, err := s.Costs.Actual(r.Context(), principal(r), f)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := v1.ActualReport{By: a.By, From: a.From, To: a.To, Items: []v1.ActualLine{}, Total: actualLine(a.Total), LateCents: a.Late, UnknownCents: a.Unknown, UntaggedCents: a.Untagged}
	for _, l := range a.Lines {
		out.Items = append(out.Items, actualLine(l))
	}
	writeOK(w, out)
}

func actualLine(l costs.ActualLine) v1.ActualLine {
	percent, _ := l.Error()
	return v1.ActualLine{Key: l.Key, Clusters: l.Clusters, Billed: l.Billed, EstimateCents: l.Estimate, ActualCents: l.Actual, ErrorPercent: float32(percent)}
}

// ReportChargeback implements GET /api/v1/reports/chargeback.
func (s *server) ReportChargeback(w http.ResponseWriter, r *http.Request, params v1.ReportChargebackParams) {
	s.costFile(w, r, "chargeback.csv", params.From, params.To, s.Costs.Chargeback)
}

// ReportFocus implements GET /api/v1/reports/focus.
func (s *server) ReportFocus(w http.ResponseWriter, r *http.Request, params v1.ReportFocusParams) {
	s.costFile(w, r, "focus.csv", params.From, params.To, s.Costs.Focus)
}

// costFile sends a file of charges while it is read. A read error after the first byte breaks the connection, which no reader takes for the
// end.
func (s *server) costFile(w http.ResponseWriter, r *http.Request, name string, from v1.From, to v1.To,
	write func(context.Context, policy.Principal, reports.ReportFilter, io.Writer) error,
) {
	q := s.newQuery(r)
	var f reports.ReportFilter
	f.From, f.To = q.checkSpan(from, to)
	if err := q.refusals(); err != nil {
		s.writeError(w, r, err)
		return
	}
	leave, found := s.Streams.Take(principal(r).ID)
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
		s.writeError(w, r, err)
	}
}
