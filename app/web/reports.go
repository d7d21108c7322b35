package web

import (
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/web/plot"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/statistics"
)

type reportsView struct {
	From, To, Team string
	Tabs           []way
	Wrong          string // why there is no report
	admin.Summary

	Live        int   // clusters that are there
	HourlyCents int64 // what they cost in an hour
	MostFailed  int   // attempts of the most frequent failure, at least 1
	MostSpent   int64 // cents of the top spender, at least 1
	Figures     []figure
}

// showReports shows what became of clusters, by default in the last 30 days.
func (p *pages) showReports(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	v := reportsView{From: r.FormValue("from"), To: r.FormValue("to"), Team: r.FormValue("team")}
	f := admin.SummaryFilter{Team: v.Team}
	if v.From != "" {
		f.From, v.Wrong = dayOf(v.From)
	}
	if v.To != "" && v.Wrong == "" {
		f.To, v.Wrong = dayOf(v.To)
	}
	if v.Wrong == "" {
		sum, err := p.Admin.Summary(r.Context(), who, f)
		if err != nil && app.KindOf(err) != app.Invalid {
			p.showError(w, r, who, err)
			return
		}
		if v.Wrong = errorText(err); v.Wrong == "" {
			v.From = sum.From.Format(day)
			v.addSummary(sum)
		}
	}
	status := http.StatusOK
	if v.Wrong != "" {
		status = http.StatusBadRequest
	}
	today := p.Now().UTC()
	for _, tab := range []struct {
		label string
		days  int
	}{{"30 days", 30}, {"90 days", 90}, {"1 year", 365}} {
		from := today.AddDate(0, 0, -tab.days).Format(day)
		v.Tabs = append(v.Tabs, way{To: v.reportURL(from), Label: tab.label, Here: v.To == "" && from == v.From})
	}
	p.renderPage(w, r, who, status, "reports", v)
}

// reportURL returns the URL of the same report from another day until now.
func (v reportsView) reportURL(from string) string {
	q := url.Values{"from": {from}}
	if v.Team != "" {
		q.Set("team", v.Team)
	}
	return "/reports?" + q.Encode()
}

func (v *reportsView) addSummary(sum admin.Summary) {
	v.Summary, v.MostFailed, v.MostSpent = sum, 1, 1
	for _, l := range sum.Inventory {
		v.Live += l.Clusters
		v.HourlyCents += l.HourlyCents
	}
	for _, l := range sum.Failures {
		v.MostFailed = max(v.MostFailed, l.Attempts)
	}
	for _, l := range sum.Spenders {
		v.MostSpent = max(v.MostSpent, l.Cents)
	}
	v.Figures = []figure{
		weeksPlot(sum.Weeks), readyPlot(sum.Weeks),
		barsPlot("lifetimes", "Lifetimes of clusters that are gone", sum.Lifetimes), barsPlot("ages", "Ages of the clusters that are there", sum.Ages),
	}
}

// figure is a chart with the title that everybody sees.
type figure struct {
	Title string
	SVG   template.HTML // of package plot
}

func weeksPlot(weeks []statistics.Week) figure {
	c := plot.Chart{ID: "weeks", Title: "Clusters by week", Series: []plot.Series{{Name: "accepted"}, {Name: "ready"}, {Name: "destroyed"}, {Name: "failed creates"}}}
	for _, w := range weeks {
		c.Labels = append(c.Labels, w.Week.Format("2 Jan"))
		for i, n := range []int{w.Accepted, w.Ready, w.Destroyed, w.FailedCreates} {
			c.Series[i].Values = append(c.Series[i].Values, float64(n))
		}
	}
	return figure{c.Title, plot.Bars(c)}
}

// readyPlot shows times in hours if the longest would be hundreds of minutes, and in seconds if it would be a minute or two.
func readyPlot(weeks []statistics.Week) figure {
	c := plot.Chart{ID: "ready", Title: "Time until ready, by week", Unit: "min", Series: []plot.Series{{Name: "median"}, {Name: "90 %"}, {Name: "99 %"}}}
	unit, longest := 60.0, int64(0)
	for _, w := range weeks {
		longest = max(longest, w.P99)
	}
	switch {
	case longest > 5*3600:
		c.Unit, unit = "h", 3600
	case longest > 0 && longest < 120:
		c.Unit, unit = "s", 1
	}
	for _, w := range weeks {
		c.Labels = append(c.Labels, w.Week.Format("2 Jan"))
		for i, seconds := range []int64{w.P50, w.P90, w.P99} {
			value := float64(seconds) / unit
			if w.Ready == 0 {
				value = math.NaN()
			}
			c.Series[i].Values = append(c.Series[i].Values, value)
		}
	}
	return figure{c.Title, plot.Lines(c)}
}

func barsPlot(id, title string, bars []statistics.Bar) figure {
	c := plot.Chart{ID: id, Title: title, Joined: true, Series: []plot.Series{{Name: "clusters"}}}
	for _, b := range bars {
		label := "longer"
		if b.Below > 0 {
			label = "< " + duration.Format(b.Below)
		}
		c.Labels = append(c.Labels, label)
		c.Series[0].Values = append(c.Series[0].Values, float64(b.Clusters))
	}
	return figure{c.Title, plot.Bars(c)}
}

// formatPercent is a share of a whole; empty if there is nothing.
func formatPercent(part, whole int) string {
	if whole == 0 {
		return ""
	}
	return fmt.Sprintf("%d %%", int(math.Floor(100*float64(part)/float64(whole)))) // 99.9 % is not 100 %
}

// formatSeconds formats seconds.
func formatSeconds(seconds int64) string {
	return duration.Format(time.Duration(seconds) * time.Second)
}

// profileTable is a table over profiles, with its title.
type profileTable struct {
	Title string
	Lines []statistics.ProfileSpread
}

func titleTable(title string, lines []statistics.ProfileSpread) profileTable {
	return profileTable{title, lines}
}
