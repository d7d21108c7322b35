package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/ocpctl/ocpctl/app"
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
}

// usage reports what was used, by default in the current month.
func (p *pages) usage(w http.ResponseWriter, r *http.Request, who policy.Principal) {
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
			p.fail(w, r, who, err)
			return
		}
		v.Wrong, v.From = complaint(err), of.From.Format(day)
		v.add(lines)
	}
	status := http.StatusOK
	if v.Wrong != "" {
		status = http.StatusBadRequest
	}
	for _, by := range []string{"team", "owner", "costCenter", "profile", "environment"} {
		v.Tabs = append(v.Tabs, way{To: v.address(by), Label: spaced(by), Here: by == v.By})
	}
	p.show(w, r, who, status, "usage", v)
}

// address returns the URL of the same report with another grouping.
func (v usageView) address(by string) string {
	q := url.Values{"by": {by}}
	for name, value := range map[string]string{"from": v.From, "to": v.To} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "/usage?" + q.Encode()
}

func (v *usageView) add(lines []reports.ReportLine) {
	v.Lines, v.Most = lines, 1
	for _, l := range lines {
		v.Most = max(v.Most, l.Cents)
		v.Total.Clusters += l.Clusters
		v.Total.Ready += l.Ready
		v.Total.ClusterHours += l.ClusterHours
		v.Total.NodeHours += l.NodeHours
		v.Total.Cents += l.Cents
	}
}
