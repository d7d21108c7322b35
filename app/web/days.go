package web

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/costs"
	"github.com/ocpctl/ocpctl/app/web/plot"
	"github.com/ocpctl/ocpctl/policy"
)

// monthForm is how a month is written in an address.
const monthForm = "2006-01"

type daysView struct {
	costs.Days
	Month   string
	Tabs    []way
	Before  string // address of the month before
	Next    string // … and after; empty: it has not begun
	Wrong   string // why there is no report
	Figures []figure
}

// Change is by how much more was spent than in the month before until the same day, in percent; empty: nothing was spent then.
func (v daysView) Change() string {
	if v.Days.Before == 0 {
		return ""
	}
	return fmt.Sprintf("%+.0f %%", 100*(float64(v.Spent)/float64(v.Days.Before)-1))
}

// showDays shows what was spent on each day of a month, by default this one.
func (p *pages) showDays(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	by := r.FormValue("by")
	if by != "profile" {
		by = "team"
	}
	v, status := daysView{}, http.StatusOK
	month, err := time.Parse(monthForm, r.FormValue("month"))
	if err != nil && r.FormValue("month") != "" {
		v.Wrong = fmt.Sprintf("%q is not a month. Write it as %s.", r.FormValue("month"), p.Now().UTC().Format(monthForm))
	}
	if v.Wrong == "" {
		v.Days, err = p.Costs.Days(r.Context(), who, by, month)
		if err != nil && app.KindOf(err) != app.Invalid {
			p.showError(w, r, who, err)
			return
		}
		v.Wrong = errorText(err)
	}
	if v.Wrong != "" {
		status = http.StatusBadRequest
	} else {
		v.addWays(by)
		v.Figures = []figure{plotDays(v.Days), sumsPlot(v.Days)}
	}
	p.renderPage(w, r, who, status, "days", v)
}

// addWays adds the addresses of the same report by another grouping, and of other months.
func (v *daysView) addWays(by string) {
	first := v.Days.Month
	v.Month = first.Format(monthForm)
	to := func(by string, month time.Time) string {
		return "/usage/days?" + url.Values{"by": {by}, "month": {month.Format(monthForm)}}.Encode()
	}
	for _, one := range []string{"team", "profile"} {
		v.Tabs = append(v.Tabs, way{To: to(one, first), Label: "by " + one, Here: one == by})
	}
	v.Before = to(by, first.AddDate(0, -1, 0))
	if next := first.AddDate(0, 1, 0); next.Before(v.Now) {
		v.Next = to(by, next)
	}
}

// plotDays shows each day's cost by group.
func plotDays(d costs.Days) figure {
	c := plot.Chart{ID: "days", Title: "Cost by day", Unit: "$", Unnamed: true}
	for _, day := range d.Days {
		c.Labels = append(c.Labels, day.Day.Format("2 Jan"))
	}
	for _, g := range d.Groups {
		s := plot.Series{Name: nameGroup(g.Key)}
		for _, cents := range g.CentsByDay {
			s.Values = append(s.Values, float64(cents)/100)
		}
		c.Series = append(c.Series, s)
	}
	return figure{c.Title, plot.Stacks(c)}
}

// nameGroup names a group of a report.
func nameGroup(key string) string {
	if key == "" {
		return "others"
	}
	return key
}

// sumsPlot shows what was spent since the month's start, beside the month before and the budget.
func sumsPlot(d costs.Days) figure {
	c := plot.Chart{ID: "sums", Title: "Spent since the month's start", Unit: "$", Series: []plot.Series{{Name: d.Month.Format("January")}, {Name: d.Month.AddDate(0, -1, 0).Format("January")}}}
	if d.Budget > 0 {
		c.Series = append(c.Series, plot.Series{Name: "budget"})
	}
	for _, day := range d.Days {
		c.Labels = append(c.Labels, day.Day.Format("2 Jan"))
		sum := float64(day.Sum) / 100
		if day.ToCome {
			sum = math.NaN()
		}
		for i, value := range []float64{sum, float64(day.BeforeTo) / 100, float64(d.Budget) / 100}[:len(c.Series)] {
			c.Series[i].Values = append(c.Series[i].Values, value)
		}
	}
	return figure{c.Title, plot.Lines(c)}
}
