package web

import (
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/app/createform"
)

// plainWord matches what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// commandLine writes what a form does as it is typed in a terminal. Words with a placeholder in them stay readable.
func commandLine(words ...string) string {
	out := []string{"ocpctl"}
	for _, word := range words {
		if !plainWord.MatchString(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// createFlags are the flags of ocpctl create for the fields of the form, in their order. The key of a person is a file there.
var createFlags = []struct{ field, flag string }{
	{createform.Name, "--name"}, {createform.TTL, "--ttl"}, {createform.Region, "--region"}, {createform.Version, "--version"}, {createform.BaseDomain, "--base-domain"},
	{createform.Team, "--team"}, {createform.Owner, "--owner"}, {createform.CostCenter, "--cost-center"}, {createform.Environment, "--environment"},
}

// Command writes what the form requests as it is typed in a terminal.
func (v newView) Command() string {
	words := []string{"create"}
	if profile := v.Form.Profile.Name; profile != "" {
		words = append(words, profile)
	}
	for _, f := range createFlags {
		if value := v.Content.Values[f.field]; value != "" {
			words = append(words, f.flag, value)
		} else if f.field == createform.Name {
			words = append(words, f.flag, "NAME")
		}
	}
	for _, addon := range strings.FieldsFunc(v.Content.Values[createform.Addons], func(r rune) bool { return r == ',' }) {
		words = append(words, "--addon", addon)
	}
	for tag := range strings.Lines(v.Content.Values[createform.ExtraTags]) {
		if tag = strings.TrimSpace(tag); tag != "" {
			words = append(words, "--tag", tag)
		}
	}
	if v.Content.Values[createform.OffHours] == "true" {
		words = append(words, "--off-hours")
	}
	return commandLine(words...)
}
