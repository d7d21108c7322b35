package github

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// makeLabels is the permission for creating a label; setting an existing one only needs write permission for pull requests.
const makeLabels = "issues:write"

func (s *Server) labelCalls() []endpoint {
	return []endpoint{
		{"GET", "/labels", readIssues, true, s.listLabels},
		{"POST", "/labels", makeLabels, false, s.postLabel},
		{"PATCH", "/labels/{name...}", makeLabels, false, s.patchLabel},
		{"DELETE", "/issues/{number}/labels/{name...}", writePulls, false, s.deleteLabel},
	}
}

func (s *Server) listLabels(w http.ResponseWriter, r *http.Request, c caller) {
	sc, all := s.sceneOf(c.at.repo), []object{}
	for _, l := range sc.labels {
		all = append(all, l.shape(sc))
	}
	page(w, r, s.base, all, nil)
}

func (s *Server) showLabel(w http.ResponseWriter, status int, c caller, name string) {
	sc := s.sceneOf(c.at.repo)
	i := slices.IndexFunc(sc.labels, func(l Label) bool { return strings.EqualFold(l.Name, name) })
	endMissing(i < 0)
	answer(w, status, sc.labels[i].shape(sc))
}

// labelBody is the body for creating or changing a label of the repository. A color must not have a leading #.
type labelBody struct {
	Name        string  `json:"name"`
	NewName     string  `json:"new_name"`
	Color       *string `json:"color"`
	Description *string `json:"description"`
}

func (b labelBody) on(l Label) Label {
	if b.NewName != "" {
		l.Name = b.NewName
	}
	if b.Color != nil {
		l.Color = *b.Color
	}
	if b.Description != nil {
		l.Description = *b.Description
	}
	return l
}

func (s *Server) postLabel(w http.ResponseWriter, r *http.Request, c caller) {
	var body labelBody
	endIf(!c.may("write"), http.StatusForbidden, "Must have write access to Repository.")
	decodeBody(r, &body)
	made := body.on(Label{Name: body.Name, Color: "ededed"})
	field, code := made.wrong()
	endInvalid(field != "", "Label", field, code)
	err := c.at.do(func(world *world, repo *repository) ([]Event, error) {
		endInvalid(repo.label(made.Name) != nil, "Label", "name", "already_exists")
		made.ID = world.id()
		repo.Labels = append(repo.Labels, &made)
		return nil, nil
	})
	endOnError(err, "Label", "name")
	s.showLabel(w, http.StatusCreated, c, made.Name)
}

func (s *Server) patchLabel(w http.ResponseWriter, r *http.Request, c caller) {
	var body labelBody
	endIf(!c.may("write"), http.StatusForbidden, "Must have write access to Repository.")
	decodeBody(r, &body)
	var name string
	err := c.at.do(func(_ *world, repo *repository) ([]Event, error) {
		old := repo.label(r.PathValue("name"))
		must.EndIf(old == nil, errNotFound)
		now := body.on(*old)
		field, code := now.wrong()
		endInvalid(field != "", "Label", field, code)
		taken := repo.label(now.Name)
		endInvalid(taken != nil && taken != old, "Label", "name", "already_exists")
		repo.renameLabel(old.Name, now.Name)
		*old, name = now, now.Name
		return nil, nil
	})
	endOnError(err, "Label", "name")
	s.showLabel(w, http.StatusOK, c, name)
}

// renameLabel renames a label wherever it is set.
func (r *repository) renameLabel(from, to string) {
	for _, pr := range r.Pulls {
		if i := slices.IndexFunc(pr.Labels, func(l string) bool { return strings.EqualFold(l, from) }); i >= 0 {
			pr.Labels[i] = to
		}
	}
}

func (s *Server) listIssueLabels(w http.ResponseWriter, r *http.Request, c caller, number int) {
	pr, ok := c.at.PullRequest(number)
	endMissing(!ok)
	page(w, r, s.base, s.sceneOf(c.at.repo).labelShapes(pr.Labels), nil)
}

// postIssueLabels accepts a list, or an object with one, as GitHub does.
func (s *Server) postIssueLabels(w http.ResponseWriter, r *http.Request, c caller, number int) {
	var raw json.RawMessage
	decodeBody(r, &raw)
	var names []string
	if json.Unmarshal(raw, &names) != nil {
		var wrapped struct{ Labels []string }
		endIf(json.Unmarshal(raw, &wrapped) != nil, http.StatusBadRequest, "Problems parsing JSON")
		names = wrapped.Labels
	}
	endIf(!c.may("triage"), http.StatusForbidden, "Must have triage rights to Repository.")
	if c.app && !c.granted(s.manifest(), makeLabels) {
		for _, name := range names {
			endIf(!slices.ContainsFunc(c.at.Labels(), func(l Label) bool { return strings.EqualFold(l.Name, name) }), http.StatusForbidden, "You do not have permission to create labels on this repository.")
		}
	}
	for _, name := range names {
		endOnError(c.at.Label(number, name, c.login), "Label", "name")
	}
	s.listIssueLabels(w, r, c, number)
}

func (s *Server) deleteLabel(w http.ResponseWriter, r *http.Request, c caller) {
	endIf(!c.may("triage"), http.StatusForbidden, "Must have triage rights to Repository.")
	n := number(r, "number")
	_, ok := c.at.PullRequest(n)
	endMissing(!ok)
	err := c.at.Unlabel(n, r.PathValue("name"), c.login)
	endIf(err != nil, http.StatusNotFound, "Label does not exist")
	s.listIssueLabels(w, r, c, n)
}
