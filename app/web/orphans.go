package web

import (
	"cmp"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/download"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/scans"
)

type orphansView struct {
	Tabs    []way
	Orphans []orphanCard
	CSV     string
	Older   string // address of the next page; empty: this is the last
	Scans   []scans.Scan
	MayScan bool
	Choose  bool // some of them can be chosen for a plan
}

// orphanCard is an orphan as the page shows it.
type orphanCard struct {
	admin.Orphan
	Kind   string // what its class means
	Hourly string
	Cost   string
	Age    time.Duration
	Decide string // what the reader can decide about it; empty: nothing
	Plan   bool   // a teardown may be able to remove it
}

// listOrphans shows what belongs to no living cluster: of one class, or all. It is told as CSV on request.
func (p *pages) listOrphans(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	f := scans.Filter{Class: lifecycle.OrphanClass(r.FormValue("class")), Team: r.FormValue("team"), Cursor: r.FormValue("cursor"), Gone: r.FormValue("show") == "all"}
	if !slices.Contains(lifecycle.OrphanClasses, f.Class) {
		f.Class = ""
	}
	asCSV := r.FormValue("format") == "csv"
	if asCSV {
		f.Limit = 500
	}
	list, next, err := p.Admin.Orphans(r.Context(), who, f)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	if asCSV {
		if begun, err := download.Send(w, "orphans.csv", "text/csv; charset=utf-8", func(to io.Writer) error { return admin.WriteOrphans(to, list) }); err != nil && !begun {
			p.showError(w, r, who, err)
		}
		return
	}
	v := orphansView{Tabs: orphanTabs(f), CSV: "/admin/orphans?" + orphanSelection(f, url.Values{"format": {"csv"}}).Encode(), MayScan: who.MayAnywhere(policy.ActScan), Older: nextPageURL("/admin/orphans", orphanSelection(f, nil), next)}
	slices.SortStableFunc(list, moreUrgent)
	mayDecide := app.MayForEverybody(who, policy.ActCleanup, messages.ToRemoveOrphans) == nil
	for _, o := range list {
		card := cardOf(o, p.Now())
		if mayDecide {
			card.Decide, card.Plan = decisionOn(o)
		}
		v.Choose = v.Choose || card.Plan
		v.Orphans = append(v.Orphans, card)
	}
	if v.Scans, err = p.Admin.Scans(r.Context(), who, "", 5); err != nil {
		v.Scans = nil // they concern every team, and this reader sees some
	}
	p.renderPage(w, r, who, http.StatusOK, "orphans", v)
}

func cardOf(o admin.Orphan, now time.Time) orphanCard {
	c := orphanCard{Orphan: o, Kind: sayOrphanClass(o.Class), Hourly: "unknown", Cost: "unknown", Age: now.Sub(o.FirstSeenAt)}
	if o.HourlyCents != nil {
		c.Hourly, c.Cost = price.Dollars(int64(math.Round(*o.HourlyCents)))+"/h", price.Dollars(*o.CostCents)
	}
	return c
}

// moreUrgent sorts a page of orphans: what is most certainly ocpctl's to remove comes first, then what costs most.
func moreUrgent(a, b admin.Orphan) int {
	class := func(o admin.Orphan) int { return slices.Index(lifecycle.OrphanClasses, o.Class) }
	hourly := func(o admin.Orphan) float64 {
		if o.HourlyCents == nil {
			return 0
		}
		return *o.HourlyCents
	}
	return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(hourly(b), hourly(a)))
}

// decisionOn returns what an administrator of all teams can decide about an orphan.
func decisionOn(o admin.Orphan) (decide string, plan bool) {
	switch {
	case !slices.Contains([]lifecycle.OrphanState{lifecycle.OrphanReported, lifecycle.OrphanExempt, lifecycle.OrphanApproved, lifecycle.OrphanKept}, o.State):
		return "", false
	case slices.Contains(lifecycle.Removable, o.Class):
		return "Plan the removal", true
	case o.Class == lifecycle.ClassForeign || o.State == lifecycle.OrphanExempt:
		return "", false
	}
	return "Let it stay", false
}

func orphanTabs(f scans.Filter) []way {
	tabs := []way{{To: "/admin/orphans", Label: "All", Here: f.Class == ""}}
	for _, class := range lifecycle.OrphanClasses {
		tabs = append(tabs, way{To: "/admin/orphans?class=" + string(class), Label: string(class), Here: f.Class == class})
	}
	return tabs
}

// orphanSelection returns the URL's parameters for a selection of orphans.
func orphanSelection(f scans.Filter, more url.Values) url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"class": string(f.Class), "team": f.Team} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Gone {
		q.Set("show", "all")
	}
	maps.Copy(q, more)
	return q
}

// scanNow has the accounts looked through.
func (p *pages) scanNow(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	_, err := p.Admin.StartScans(r.Context(), who, "", originOf(r))
	p.answerForm(w, r, who, "/admin/orphans", "The accounts are being looked through, one after another. What is found appears here.", err)
}

// sayOrphanClass says in a few words what a class means.
func sayOrphanClass(c lifecycle.OrphanClass) string {
	switch c {
	case lifecycle.ClassReleased:
		return "of a destroyed cluster"
	case lifecycle.ClassUnrecorded:
		return "tagged with a cluster that never recorded its name"
	case lifecycle.ClassUnknown:
		return "of a cluster that is not in the database"
	case lifecycle.ClassOwned:
		return "with a person's or another cluster's mark"
	case lifecycle.ClassForeign:
		return "of another installation"
	case lifecycle.ClassNobody:
		return "without a mark"
	}
	return strings.ReplaceAll(string(c), "_", " ")
}
