package web

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/web/plot"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/statistics"
)

type galleryView struct {
	Profiles []profileCard
}

// profileCard is a profile as the gallery shows it.
type profileCard struct {
	admin.ProfileRecord
	Region profiles.Region // the default one
	New    string          // where a cluster of it is created; empty: the viewer may not
	Strip  template.HTML   // its newest creates; empty: there are none
}

// Hour and Day are what it costs, in cents.
func (c profileCard) Hour() int64 { return int64(c.Region.HourlyCents) }

func (c profileCard) Day() int64 { return 24 * c.Hour() }

// Failed counts the creates that failed.
func (c profileCard) Failed() (n int) {
	for _, one := range c.Creates {
		if one.State == statistics.CreateFailed {
			n++
		}
	}
	return n
}

// showGallery shows the profiles with what they cost and how creates of them went lately.
func (p *pages) showGallery(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	list, err := p.Admin.Gallery(r.Context(), who)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	v := galleryView{}
	for _, one := range list {
		card := profileCard{ProfileRecord: one, Region: regionOf(one.Profile), Strip: drawCreates(one)}
		if one.Enabled && who.MayAnywhere(policy.ActCreate) {
			card.New = "/new?" + url.Values{"profile": {one.Name}}.Encode()
		}
		v.Profiles = append(v.Profiles, card)
	}
	p.renderPage(w, r, who, http.StatusOK, "gallery", v)
}

// regionOf returns the default region of a profile.
func regionOf(p profiles.Profile) profiles.Region {
	at := slices.IndexFunc(p.Regions, func(r profiles.Region) bool { return r.Name == p.DefaultRegion })
	if at < 0 {
		return profiles.Region{}
	}
	return p.Regions[at]
}

// createMarks are the marks of creates that made nothing ready.
var createMarks = map[statistics.CreateState]string{statistics.CreateFailed: "✕", statistics.CreateRunning: "…", statistics.CreateEnded: "–"}

// drawCreates draws the newest creates of a profile, the oldest at the left.
func drawCreates(r admin.ProfileRecord) template.HTML {
	if len(r.Creates) == 0 {
		return ""
	}
	s := plot.Strip{ID: "creates-" + r.Name, Title: fmt.Sprintf("The last %d creates, the oldest first", len(r.Creates)), Room: 20}
	for _, c := range slices.Backward(r.Creates) {
		s.Bars = append(s.Bars, plot.StripBar{State: string(c.State), Mark: createMarks[c.State], Text: describeCreate(c), Value: float64(c.Seconds)})
	}
	return s.Draw()
}

// describeCreate says how a create went.
func describeCreate(c statistics.Create) string {
	took := duration.Format(time.Duration(c.Seconds) * time.Second)
	text := map[statistics.CreateState]string{
		statistics.CreateReady: "ready in " + took, statistics.CreateFailed: "failed after " + took,
		statistics.CreateRunning: "being created for " + took, statistics.CreateEnded: "ended before it was ready, after " + took,
	}[c.State]
	if c.Reason != "" {
		text += " (" + c.Reason + ")"
	}
	if c.Tries > 1 {
		text += fmt.Sprintf(", %d attempts", c.Tries)
	}
	if c.Name != "" {
		text = c.Name + ": " + text
	}
	return chatops.Time(c.Began) + ", " + text
}
