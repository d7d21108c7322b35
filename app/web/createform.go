package web

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/createform"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

// createForm is the content of the form for a cluster, as typed.
type createForm struct {
	Key    string // one for each request
	Values createform.Values
}

var keyForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// formOf reads the form with a function that returns a field's value.
func formOf(r *http.Request, value func(string) string) createForm {
	f := createForm{Key: value("key"), Values: createform.Read(value)}
	if profile := r.PostFormValue(createform.AddonsFor); profile != "" {
		f.Values[createform.AddonsFor], f.Values[createform.Addons] = profile, strings.Join(r.PostForm[createform.Addons], ",")
	}
	return f
}

// newView is the form with its choices and problems.
type newView struct {
	Content createForm
	Form    createform.Form
	Wrong   []app.Field
	Wrongs  int // at fields
	Blamed  []createform.Field
	Others  []string // problems that belong to no field of the form
	Verdict *verdictView

	Required []string // tags on everything in the cloud

	at map[string][]app.Field
}

// verdictView is a verdict with its price.
type verdictView struct {
	policy.Verdict
	lifecycle.Forecast
}

// Expected says when it would begin and be ready; empty if nothing was granted.
func (v verdictView) Expected() string { return chatops.Expected(v.Forecast) }

// Price says what it would cost; empty if nothing was granted.
func (v verdictView) Price() string { return messages.ExpectedPrice(v.Verdict) }

// fieldView is a field with its problems.
type fieldView struct {
	createform.Field
	Messages []string
}

// Inputs returns those of the named fields that the form has.
func (v newView) Inputs(names ...string) (out []fieldView) {
	for _, name := range names {
		field := fieldView{Field: v.Form.Field(name)}
		if field.Name == "" {
			continue
		}
		for _, wrong := range v.at[name] {
			field.Messages = append(field.Messages, fieldText(wrong))
		}
		out = append(out, field)
	}
	return out
}

// showNew shows the form with the choices that the profile and the team allow.
func (p *pages) showNew(w http.ResponseWriter, r *http.Request, who policy.Principal, status int, v newView) {
	list, unasked, err := p.Admin.Profiles(who)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	state, err := p.Admin.Catalogue(who)
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	v.Form = createform.Of(who, state.Catalogue.Catalogue, list, unasked, v.Content.Values)
	var others []app.Field
	v.at, others = v.Form.Blame(v.Wrong)
	for _, wrong := range others {
		v.Others = append(v.Others, fieldText(wrong))
	}
	v.Wrongs = len(v.Wrong) - len(others)
	for _, field := range v.Form.Fields {
		if v.at[field.Name] != nil {
			v.Blamed = append(v.Blamed, field)
		}
	}
	v.Required = createform.RequiredTags
	p.renderPage(w, r, who, status, "new", v)
}
