package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/internal/download"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/reports"
)

type usageView struct {
	By, From, To string
	Tabs         []way
	Wrong        string // why there is no report
	Lines        []reports.ReportLine
	Most         int64 // cents of the most expensive line, at least 1
	Total        reports.ReportLine

	Month *costs.Forecast // nil: the report could not be made
	Bill  *costs.Actual   // nil: no bill was read, or it does not tell of these days
}

// showUsage reports what was used, by default in the current month.
func (p *pages) showUsage(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	v := usageView{By: strings.TrimSpace(r.FormValue("by")), From: r.FormValue("from"), To: r.FormValue("to")}
	if v.By == "" {
		v.By = "team"
	}
	f := reports.ReportFilter{By: v.By}
	if v.From != "" {
		f.From, v.Wrong = dayOf(v.From)
	}
	if v.To != "" && v.Wrong == "" {
		f.To, v.Wrong = dayOf(v.To)
	}
	if v.Wrong == "" {
		of, lines, err := p.Costs.Usage(r.Context(), who, f)
		if err != nil && app.KindOf(err) != app.Invalid {
			p.showError(w, r, who, err)
			return
		}
		v.Wrong, v.From = errorText(err), of.From.Format(day)
		v.addLines(lines)
		if err == nil {
			err = p.addMoney(r.Context(), who, f, &v)
		}
		if err != nil && app.KindOf(err) != app.Invalid {
			p.showError(w, r, who, err)
			return
		}
	}
	status := http.StatusOK
	if v.Wrong != "" {
		status = http.StatusBadRequest
	}
	for _, by := range []string{"team", "owner", "costCenter", "repository", "profile", "environment", "pullRequest", "run"} {
		v.Tabs = append(v.Tabs, way{To: v.usageURL(by), Label: splitWords(by), Here: by == v.By})
	}
	p.renderPage(w, r, who, status, "usage", v)
}

// addMoney adds this month's forecast, and the bill of the report's time if one was read.
func (p *pages) addMoney(ctx context.Context, who policy.Principal, f reports.ReportFilter, v *usageView) error {
	month, err := p.Costs.Forecast(ctx, who, f.By)
	if err != nil {
		return err
	}
	v.Month = &month
	bill, err := p.Costs.Actual(ctx, who, f)
	if app.KindOf(err) == app.NotFound {
		return nil
	}
	if err == nil && len(bill.Lines) > 0 {
		v.Bill = &bill
	}
	return err
}

// Running are the groups of this month that will cost more or have a budget. The table below has the others.
func (v usageView) Running() (lines []costs.ForecastLine) {
	for _, l := range v.Month.Lines {
		if l.ToCome > 0 || l.Budget.MonthlyCents > 0 {
			lines = append(lines, l)
		}
	}
	return lines
}

// Warn is the part of a group's budget from which requests need an approval, in cents.
func (v usageView) Warn(l costs.ForecastLine) int64 {
	return l.Budget.MonthlyCents * int64(l.Budget.WarnPercent) / 100
}

// Reached is the largest part of a budget that people are told of and that is spent or promised, in percent; 0: none.
func (v usageView) Reached(l costs.ForecastLine) int {
	if len(l.Reached) == 0 {
		return 0
	}
	return l.Reached[len(l.Reached)-1]
}

// Off says by how much an estimate differs from the bill.
func (v usageView) Off(l costs.ActualLine) string {
	percent, known := l.Error()
	if !known {
		return "not billed"
	}
	return fmt.Sprintf("%+.1f %%", percent)
}

// File returns the URL of a file for accounting with the same time.
func (v usageView) File(name string) string {
	q := url.Values{}
	for field, value := range map[string]string{"from": v.From, "to": v.To} {
		if value != "" {
			q.Set(field, value)
		}
	}
	return "/usage/" + name + "?" + q.Encode()
}

// costFile downloads a file for accounting.
func (p *pages) costFile(name string, write func(context.Context, policy.Principal, reports.ReportFilter, io.Writer) error) func(http.ResponseWriter, *http.Request, policy.Principal) {
	return func(w http.ResponseWriter, r *http.Request, who policy.Principal) {
		var f reports.ReportFilter
		var wrong string
		for field, to := range map[string]*time.Time{"from": &f.From, "to": &f.To} {
			if text := r.FormValue(field); text != "" && wrong == "" {
				*to, wrong = dayOf(text)
			}
		}
		if wrong != "" {
			p.showProblem(w, r, who, http.StatusBadRequest, wrong)
			return
		}
		ctx := context.WithoutCancel(r.Context()) // each part has its own time limit
		begun, err := download.Send(w, name, "text/csv; charset=utf-8", func(out io.Writer) error { return write(ctx, who, f, out) })
		switch {
		case err != nil && begun:
			p.Log.ErrorContext(r.Context(), "cost file broken off", "file", name, "err", err)
			panic(http.ErrAbortHandler)
		case err != nil:
			p.showError(w, r, who, err)
		}
	}
}

// usageURL returns the URL of the same report with another grouping.
func (v usageView) usageURL(by string) string {
	q := url.Values{"by": {by}}
	for name, value := range map[string]string{"from": v.From, "to": v.To} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "/usage?" + q.Encode()
}

func (v *usageView) addLines(lines []reports.ReportLine) {
	v.Lines, v.Most = lines, 1
	for _, l := range lines {
		v.Most = max(v.Most, l.Cents)
		v.Total.Clusters += l.Clusters
		v.Total.Ready += l.Ready
		v.Total.ClusterHours += l.ClusterHours
		v.Total.NodeHours += l.NodeHours
		v.Total.Cents += l.Cents
		v.Total.SavedCents += l.SavedCents
	}
}
