package web

import (
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

const brakesPath = "/brakes"

type brakesView struct{ Brakes []lifecycle.Brake }

// showBrakes lists what keeps new clusters from being created, with the form for another freeze.
func (p *pages) showBrakes(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	list, err := p.App.Brakes(r.Context(), who)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	p.renderPage(w, r, who, http.StatusOK, "brakes", brakesView{list})
}

func (p *pages) freeze(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	form := r.PostFormValue
	if form("drain_by") != "" && form("drain") == "" {
		p.answerForm(w, r, who, brakesPath, "", app.Fail(app.Invalid, "Nothing was frozen, because a time to drain by was given without Drain. Choose Drain to end the clusters there, or leave the time empty."))
		return
	}
	brake, err := p.App.Freeze(r.Context(), who, app.FreezeRequest{
		Where: lifecycle.Place{Platform: form("platform"), Account: form("account"), Region: form("region"), Profile: form("profile"), Team: form("team")},
		Until: form("until"), Drain: form("drain") != "", DrainBy: form("drain_by"),
	}, originOf(r))
	done := "New clusters wait from now on. What runs goes on."
	if !brake.DrainAt.IsZero() {
		done = "New clusters wait from now on. The clusters there end by " + brake.DrainAt.Format("15:04 MST on 2 January") + "."
	}
	p.answerForm(w, r, who, brakesPath, done, err)
}

func (p *pages) thaw(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	_, err := p.App.Thaw(r.Context(), who, r.PathValue("id"), originOf(r))
	p.answerForm(w, r, who, brakesPath, "It ended. What waited for it goes on.", err)
}
