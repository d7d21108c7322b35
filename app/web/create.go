package web

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/createform"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// newClusterForm shows the form for a cluster; its URL may fill in some fields.
func (p *pages) newClusterForm(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	if !who.MayAnywhere(policy.ActCreate) {
		_, err := p.App.DryRun(r.Context(), who, app.CreateRequest{Source: policy.SourceWeb}) // the error says why
		p.showError(w, r, who, err)
		return
	}
	f := formOf(r, r.FormValue)
	f.Key = freshKey()
	f.Values = f.Values.ProposeName(p.App.NameOf(who.ID), f.Key)
	f.Values[createform.SSHPublicKey], f.Values[createform.ExtraTags] = "", "" // a link from somebody else must not add their key to the nodes, or set tags unnoticed
	p.showNew(w, r, who, http.StatusOK, newView{Content: f})
}

// submitCreate does what the form's button says: update the choices, check, or create.
func (p *pages) submitCreate(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	f := formOf(r, r.PostFormValue)
	if !keyForm.MatchString(f.Key) {
		f.Key = freshKey()
	}
	switch r.PostFormValue("do") {
	case "check":
		p.checkRequest(w, r, who, f)
	case "create":
		p.createNow(w, r, who, f)
	default:
		p.showNew(w, r, who, http.StatusOK, newView{Content: f})
	}
}

// checkRequest judges the request as if it were made now, and stores nothing.
func (p *pages) checkRequest(w http.ResponseWriter, r *http.Request, who policy.Principal, f createForm) {
	v := newView{Content: f}
	request := f.Values.Request(policy.SourceWeb)
	verdict, err := p.App.DryRun(r.Context(), who, request)
	if err != nil {
		p.notCreated(w, r, who, v, err)
		return
	}
	v.Verdict = &verdictView{verdict.Verdict, verdict.Forecast}
	var refused *app.Error
	if !verdict.Allowed && errors.As(app.Refused(verdict.Verdict, request.Wrong), &refused) {
		v.Wrong = refused.Fields
	}
	p.showNew(w, r, who, http.StatusOK, v)
}

// createNow creates the cluster. Submitting the same form twice makes one cluster: its key includes a hash of its content, so that a
// changed form is a new request.
func (p *pages) createNow(w http.ResponseWriter, r *http.Request, who policy.Principal, f createForm) {
	request, hash := f.Values.Request(policy.SourceWeb), f.Values.Hash()
	request.Once = &store.Once{Key: "web:" + f.Key + ":" + hash[:16], Request: hash}
	made, err := p.App.Create(r.Context(), who, request)
	v := newView{Content: f}
	v.Content.Key = freshKey() // the next request is a different one
	switch {
	case err != nil:
		p.notCreated(w, r, who, v, err)
	case made.Row.ID != "":
		text := made.Verdict.Text()
		for _, check := range made.Verdict.Warnings() {
			text += " " + check.Message
		}
		p.redirectWith(w, r, who, "/clusters/"+made.Row.ID, said{Message: text})
	default:
		v.Verdict = &verdictView{Verdict: made.Verdict}
		p.notCreated(w, r, who, v, app.Refused(made.Verdict, nil))
	}
}

// notCreated shows the form again with its values, and the problems at each field.
func (p *pages) notCreated(w http.ResponseWriter, r *http.Request, who policy.Principal, v newView, err error) {
	var e *app.Error
	if !errors.As(err, &e) {
		p.showError(w, r, who, err)
		return
	}
	status := statuses[e.Kind]
	switch e.Kind {
	case app.Invalid:
		status = http.StatusUnprocessableEntity
		v.Wrong = e.Fields
	case app.Conflict: // the key is never reused, so the conflict is about the name
		v.Wrong = []app.Field{{Name: createform.Name, Detail: e.Message}}
	default:
		p.showError(w, r, who, err)
		return
	}
	p.showNew(w, r, who, status, v)
}

func freshKey() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // never fails: crypto/rand ends the program instead
	return hex.EncodeToString(raw)
}
