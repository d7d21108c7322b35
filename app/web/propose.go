package web

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store/outbox"
)

const proposePath = policyPath + "/propose"

// proposeView is a document of the catalogue in a form, or the state of what was proposed.
type proposeView struct {
	Tabs                  []way
	Repository            string
	Files                 []string
	File, Document, Title string
	At                    map[string][]string // problems by field
	State                 *outbox.EffectState // of an earlier proposal; nil: none is shown
	Site                  string
	Once                  string // names the form, so that sending it twice opens one pull request
}

// faultsView is the problems of one field, for a template.
type faultsView struct {
	Name  string
	Texts []string
}

func newFaultsView(name string, at map[string][]string) faultsView { return faultsView{name, at[name]} }

// showPropose shows a document of the catalogue for editing. Sending the form changes nothing here: it opens a pull request.
func (p *pages) showPropose(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	v, documents, err := p.newProposal(r, who)
	if id := r.FormValue("asked"); err == nil && id != "" {
		var state outbox.EffectState
		state, err = p.Admin.Proposal(r.Context(), who, id)
		v.State = &state
	}
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	v.File = r.FormValue("file")
	v.Document = documents[v.File]
	p.renderPage(w, r, who, http.StatusOK, "propose", v)
}

func (p *pages) newProposal(r *http.Request, who policy.Principal) (v proposeView, documents map[string]string, err error) {
	if documents, err = p.Admin.Documents(who); err != nil {
		return v, nil, err
	}
	state, err := p.Admin.Catalogue(who)
	return proposeView{Tabs: policyTabs(state, proposePath), Repository: state.Repository, Files: sortKeys(documents), At: map[string][]string{}, Site: p.GitHub, Once: cmp.Or(r.PostFormValue("once"), rand.Text())}, documents, err
}

// propose asks for a pull request with the document, or shows the form again with what is wrong.
func (p *pages) propose(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	v, _, err := p.newProposal(r, who)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	v.File, v.Document, v.Title = r.PostFormValue("file"), r.PostFormValue("document"), r.PostFormValue("title")
	origin := originOf(r)
	origin.Once = strings.Join([]string{v.Once, v.File, v.Title, v.Document}, "\n") // a form that was changed and sent again proposes again
	id, err := p.Admin.Propose(r.Context(), who, v.File, v.Document, v.Title, origin)
	var refused *app.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == app.Invalid:
		for _, one := range refused.Fields {
			v.At[one.Name] = append(v.At[one.Name], fieldText(one))
		}
		p.renderPage(w, r, who, http.StatusUnprocessableEntity, "propose", v)
	case err != nil:
		p.showError(w, r, who, err)
	default:
		p.redirectWith(w, r, who, proposePath+"?asked="+id, said{Message: "The pull request is being opened."})
	}
}
