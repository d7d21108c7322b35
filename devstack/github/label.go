package github

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/devstack/pick"
)

// Label is a label of a repository.
type Label struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Color       string `json:"color"` // six hexadecimal digits
	Description string `json:"description"`
}

// startLabels are a repository's labels at the start: the four profiles' and some unrelated to ocpctl.
var startLabels = []string{
	"ocp/aws-minimal-test", "ocp/aws-standard", "ocp/ibm-minimal-test", "ocp/ibm-standard",
	"bug", "enhancement", "documentation", "needs review",
}

var labelLooks = []struct{ prefix, color, text string }{
	{"ocp/", "1d76db", "An OpenShift cluster for this pull request"},
	{"bug", "d73a4a", "Something isn't working"},
	{"enhancement", "a2eeef", "New feature or request"},
	{"documentation", "0075ca", "Improvements or additions to documentation"},
}

// plainLabel returns the label that GitHub creates for an unknown name: it is grey.
func plainLabel(name string) *Label {
	l := &Label{Name: name, Color: "ededed"}
	for _, look := range labelLooks {
		if strings.HasPrefix(name, look.prefix) {
			l.Color, l.Description = look.color, look.text
			break
		}
	}
	for _, r := range name {
		l.ID = l.ID*131%100_000_000 + int64(r)
	}
	return l
}

// label finds a label, ignoring case.
func (r *repository) label(name string) *Label {
	return pick.First(r.Labels, func(l *Label) bool { return strings.EqualFold(l.Name, name) })
}

var hexColor = regexp.MustCompile(`^[0-9a-fA-F]{6}$`)

// wrong returns the field that GitHub would refuse and its error code; empty: none.
func (l Label) wrong() (field, code string) {
	switch {
	case strings.TrimSpace(l.Name) == "":
		return "name", "missing_field"
	case utf8.RuneCountInString(l.Name) > 50:
		return "name", "invalid"
	case !hexColor.MatchString(l.Color):
		return "color", "invalid"
	case utf8.RuneCountInString(l.Description) > 100:
		return "description", "invalid"
	}
	return "", ""
}

func (l Label) shape(sc scene) object {
	var description any
	if l.Description != "" {
		description = l.Description
	}
	return object{
		"id": l.ID, "node_id": nodeID("LA", l.ID), "url": sc.api() + "repos/" + sc.repo.Name + "/labels/" + l.Name,
		"name": l.Name, "color": l.Color, "default": false, "description": description,
	}
}

func (sc scene) label(name string) Label {
	i := slices.IndexFunc(sc.labels, func(l Label) bool { return strings.EqualFold(l.Name, name) })
	if i < 0 {
		return *plainLabel(name)
	}
	return sc.labels[i]
}

func (sc scene) labelShapes(names []string) []any {
	return pick.Map(names, func(n string) any { return sc.label(n).shape(sc) })
}
