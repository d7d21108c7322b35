package web

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
)

const policyPath = "/policy"

// policyView is what requests are judged by.
type policyView struct {
	admin.Policy
	Source   string // of the catalogue
	Problems profiles.Problems
	MayEdit  bool // reload, ask what if, propose a change
	Tabs     []way
	Site     string
	Roles    []policy.Role
}

// showPolicy shows what requests are judged by, and what that did.
func (p *pages) showPolicy(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	found, err := p.Admin.Policy(r.Context(), who)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	v := policyView{Policy: found, Source: "a directory", MayEdit: who.MayAnywhere(policy.ActCatalogue), Roles: policy.Roles, Site: p.GitHub}
	if found.State.Embedded {
		v.Source = "the built-in catalogue"
	}
	if v.MayEdit {
		v.Problems, v.Tabs = found.State.Problems(), policyTabs(found.State, policyPath)
	}
	p.renderPage(w, r, who, http.StatusOK, "policy", v)
}

// Place is where an object stands, with the address of the line on GitHub; empty: the commit or the repository is not known.
func (v policyView) Place(at profiles.Place) placeView {
	out := placeView{Place: at}
	if state := v.State; at.File != "" && state.Commit != "" && state.Repository != "" && v.Site != "" {
		out.To = fmt.Sprintf("%s/%s/blob/%s/%s#L%d", v.Site, state.Repository, state.Commit, state.PathOf(at.File), at.Line)
	}
	return out
}

type placeView struct {
	profiles.Place
	To string
}

// effects say what a rule does, for people.
var effects = map[profiles.Effect]string{
	profiles.EffectDeny: "refuses", profiles.EffectWarn: "warns", profiles.EffectRequireApproval: "asks for approval", profiles.EffectDefault: "fills in",
}

// Does says what a rule does when its condition holds.
func (policyView) Does(r admin.RuleState) string { return effects[r.Effect] }

// hitTexts say what a check did to requests, for people.
var hitTexts = map[string]string{"pass": "filled in", "warn": "warned", "wait": "let wait", "ask": "needed approval", "fail": "refused"}

// Did says how often a check did something, and to whom.
func (policyView) Did(h store.CheckHits) string {
	requests := "1 request"
	if h.Requests != 1 {
		requests = fmt.Sprintf("%d requests", h.Requests)
	}
	return requests + " " + hitTexts[h.Result]
}

// More is how many people a check hit besides those that it names.
func (policyView) More(h store.CheckHits) int { return h.People - len(h.Principals) }

// MayHave reports whether a right is a role's.
func (policyView) MayHave(right admin.Right, role policy.Role) bool {
	return slices.Contains(right.Roles, role)
}

// reloadCatalogue reads the catalogue's folder now.
func (p *pages) reloadCatalogue(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	state, err := p.Admin.ReloadCatalogue(r.Context(), who, originOf(r))
	if err == nil && state.Err != nil {
		p.redirectWith(w, r, who, policyPath, said{Message: "The directory's files have errors, so the last valid catalogue stays active.", Bad: true})
		return
	}
	p.answerForm(w, r, who, policyPath, "Reloaded. Catalogue "+state.Hash+" is active.", err)
}
