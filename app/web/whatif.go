package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/createform"
	"github.com/ocpctl/ocpctl/policy"
)

const whatIfPath = policyPath + "/what-if"

// whatIfView is a question, as typed, with what policy says to it.
type whatIfView struct {
	Fields  []askedField
	Others  []string // problems that belong to no field
	Answer  *admin.Answer
	Verdict *verdictView
	Tabs    []way
}

// askedField is a field of the question.
type askedField struct {
	Name, Label, Hint, Value string
	Options                  []string // among which one chooses; empty: it is typed
	Suggest                  []string // that one may type
	Check                    bool     // yes or no
	Messages                 []string
}

// showWhatIf asks what policy would say to somebody's request, and shows the answer. It changes nothing, so the question is in the address.
func (p *pages) showWhatIf(w http.ResponseWriter, r *http.Request, who policy.Principal) {
	found, err := p.Admin.Policy(r.Context(), who)
	if err == nil {
		err = app.MayForEverybody(who, policy.ActCatalogue, "ask what policy would say to somebody else")
	}
	if err != nil {
		p.showError(w, r, who, err)
		return
	}
	v := whatIfView{Fields: listAskedFields(found, r), Tabs: policyTabs(found.State, r.URL.Path)}
	if r.FormValue("ask") == "" {
		p.renderPage(w, r, who, http.StatusOK, "whatif", v)
		return
	}
	status := http.StatusOK
	question, wrong := readQuestion(r)
	answer, err := p.Admin.WhatIf(r.Context(), who, question)
	var refused *app.Error
	switch {
	case errors.As(err, &refused) && refused.Kind == app.Invalid, err == nil && len(wrong) > 0:
		status = http.StatusUnprocessableEntity
		if refused != nil {
			wrong = append(wrong, refused.Fields...)
		}
		v = v.blame(wrong)
	case err != nil:
		p.showError(w, r, who, err)
		return
	default:
		v.Answer, v.Verdict = &answer, &verdictView{answer.Verdict, answer.Forecast}
	}
	p.renderPage(w, r, who, status, "whatif", v)
}

// readQuestion reads the question from the page's address.
func readQuestion(r *http.Request) (q admin.Question, wrong []app.Field) {
	q = admin.Question{
		As: strings.TrimSpace(r.FormValue("as")), Role: r.FormValue("role"), Source: r.FormValue("source"), CreateRequest: createform.Read(r.FormValue).Request(policy.SourceAPI),
		On: admin.QuestionGitHub{Repository: strings.TrimSpace(r.FormValue("repository")), Permission: r.FormValue("permission"), Fork: r.FormValue("fork") != ""},
	}
	wrong = append(wrong, q.Wrong...)
	if text := strings.TrimSpace(r.FormValue("workers")); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			wrong = append(wrong, app.Field{Name: "workers", Detail: strconv.Quote(text) + " is not a number of workers.", Accept: []string{"a whole number, 0 or more"}})
		}
		q.Workers = &n
	}
	return q, wrong
}

// listAskedFields are the fields of the form with the values from the page's address.
func listAskedFields(found admin.Policy, r *http.Request) []askedField {
	var people, teams, names, sources, roles []string
	for _, one := range found.People {
		people = append(people, one.Value.Name)
	}
	for _, one := range found.Teams {
		teams = append(teams, one.Value.Name)
	}
	for _, one := range found.Profiles {
		names = append(names, one.Value.Name)
	}
	for _, one := range policy.Sources {
		sources = append(sources, string(one))
	}
	for _, one := range policy.Roles {
		roles = append(roles, string(one))
	}
	fields := []askedField{
		{Name: "as", Label: "Who asks", Hint: "a person, or an id such as github:maya", Suggest: people},
		{Name: "role", Label: "Role", Hint: "empty: as in their last request", Options: append([]string{""}, roles...)},
		{Name: createform.Team, Label: "Team", Suggest: teams},
		{Name: "source", Label: "From", Options: sources},
		{Name: "profile", Label: "Profile", Hint: "empty: the default", Options: append([]string{""}, names...)},
		{Name: "region", Label: "Region"}, {Name: "version", Label: "Version"},
		{Name: "ttl", Label: "Lifetime", Hint: "such as 8h or 2d"},
		{Name: "workers", Label: "Workers, once it is ready"},
		{Name: "repository", Label: "Repository", Hint: "on GitHub, owner/name"},
		{Name: "permission", Label: "Permission on it", Options: append(append([]string{}, policy.Permissions...), "triage", "read", "none")},
		{Name: "fork", Label: "From a fork", Check: true},
	}
	for i := range fields {
		fields[i].Value = r.FormValue(fields[i].Name)
	}
	if fields[3].Value == "" {
		fields[3].Value = string(policy.SourceAPI)
	}
	return fields
}

// blame puts each problem at its field, or above the form.
func (v whatIfView) blame(wrong []app.Field) whatIfView {
next:
	for _, one := range wrong {
		for i := range v.Fields {
			if v.Fields[i].Name == one.Name {
				v.Fields[i].Messages = append(v.Fields[i].Messages, fieldText(one))
				continue next
			}
		}
		v.Others = append(v.Others, fieldText(one))
	}
	return v
}

// Wrongs lists the fields with problems.
func (v whatIfView) Wrongs() (wrong []askedField) {
	for _, f := range v.Fields {
		if len(f.Messages) > 0 {
			wrong = append(wrong, f)
		}
	}
	return wrong
}

// policyTabs are the pages below the policy page, for those who may edit the catalogue.
func policyTabs(state admin.CatalogueState, here string) []way {
	tabs := []way{{To: policyPath, Label: "Rules"}, {To: whatIfPath, Label: "What if"}}
	if state.Repository != "" {
		tabs = append(tabs, way{To: proposePath, Label: "Propose a change"})
	}
	for i := range tabs {
		tabs[i].Here = tabs[i].To == here
	}
	return tabs
}
