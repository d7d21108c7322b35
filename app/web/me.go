package web

import (
	"net/http"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/people"
)

type meView struct {
	Expires  time.Time
	May      []policy.Act // in at least one team
	Accounts []string
	Listed   []string // other identities of the person in the catalogue

	Lookalikes []string // accounts that look like the person's own, and that nobody linked

	CommandLines []people.CommandLine
}

// showMe shows the person's own roles, teams and accounts.
func (p *pages) showMe(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	v := meView{Expires: sessionOf(r).Expires}
	for _, act := range policy.Acts() {
		if who.MayAnywhere(act) {
			v.May = append(v.May, act)
		}
	}
	var err error
	if v.Accounts, err = p.Credentials.Accounts(r.Context(), who); err != nil {
		p.showError(w, r, who, err)
		return
	}
	if state, err := p.Admin.Catalogue(who); err == nil { // whoever has no role sees no catalogue
		person, _ := state.Catalogue.PersonOf(who.ID)
		v.Listed = slices.DeleteFunc(slices.Clone(person.Identities), func(id string) bool { return profiles.IdentityKey(id) == profiles.IdentityKey(who.ID) })
	}
	if v.Lookalikes, err = p.Credentials.Lookalikes(r.Context(), who); err != nil {
		p.showError(w, r, who, err)
		return
	}
	if p.CommandLines != nil {
		if v.CommandLines, err = p.CommandLines.Open(r.Context(), who); err != nil {
			p.showError(w, r, who, err)
			return
		}
	}
	p.renderPage(w, r, who, http.StatusOK, "me", v)
}

// unlinkAccount removes a linked account from the person.
func (p *pages) unlinkAccount(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	id := r.PostFormValue("account")
	err := p.Credentials.Unlink(r.Context(), who, id, originOf(r))
	site, name := splitAccount(id)
	p.answerForm(w, r, who, "/me", site+" account "+name+" is no longer linked.", err)
}
