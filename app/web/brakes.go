package web

import (
	"net/http"

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
	where := lifecycle.Place{Platform: form("platform"), Account: form("account"), Region: form("region"), Profile: form("profile"), Team: form("team")}
	_, err := p.App.Freeze(r.Context(), who, where, form("until"), originOf(r))
	p.answerForm(w, r, who, brakesPath, "New clusters wait from now on. What runs goes on.", err)
}

func (p *pages) thaw(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	_, err := p.App.Thaw(r.Context(), who, r.PathValue("id"), originOf(r))
	p.answerForm(w, r, who, brakesPath, "It ended. What waited for it goes on.", err)
}
