// Package createform says what a form for a cluster asks: its fields with their choices, which follow from the catalogue and from what
// is chosen already, and what the profile fixes. The web page and the form in Slack show the same fields.
//
// It is pure, and must never decide: whatever a form holds is judged by package app like any other request.
package createform

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
)

// The fields, as a create request spells them.
const (
	Name         = "name"
	Profile      = "profile"
	Region       = "region"
	Version      = "version"
	BaseDomain   = "baseDomain"
	TTL          = "ttl"
	Team         = "team"
	Owner        = "owner"
	CostCenter   = "costCenter"
	Environment  = "environment"
	Addons       = "addons"
	OffHours     = "offhoursOptIn"
	SSHPublicKey = "sshPublicKey"
	ExtraTags    = "extraTags"
)

// Names lists the fields in the order in which a form shows them.
var Names = []string{Name, Profile, Region, Version, BaseDomain, TTL, Team, Owner, CostCenter, Environment, OffHours, Addons, SSHPublicKey, ExtraTags}

// Kind is how a field is filled in.
type Kind string

// The kinds of fields.
const (
	Text    Kind = "text"
	Lines   Kind = "lines"   // a text of several lines
	Choice  Kind = "choice"  // one of its choices
	Choices Kind = "choices" // any of its choices
)

// Field is one field of a form.
type Field struct {
	Name, Label, Hint string
	Kind              Kind
	Value             string // entered or selected; several are joined by commas
	Unasked           string // what an empty text means; empty: nothing
	Choices           []Option
	Required          bool
}

// Option is one choice of a field.
type Option struct {
	Value, Text string
	Off         bool // shown, but cannot be chosen
}

// Has reports whether a choice is selected.
func (f Field) Has(value string) bool {
	if f.Kind == Choices {
		return slices.Contains(splitList(f.Value), value)
	}
	return f.Value == value
}

// Form is what a form asks.
type Form struct {
	Profile profiles.Profile // selected
	Fields  []Field
	Locked  []Fact
}

// Field returns the field with a name; the zero value if the form does not have it.
func (f Form) Field(name string) Field {
	for _, field := range f.Fields {
		if field.Name == name {
			return field
		}
	}
	return Field{}
}

// Of returns the form for a principal. offered are the profiles to choose from, unasked is the one to begin with, and v is what is
// filled in so far. A value that is not among the choices gives way to the default.
func Of(p policy.Principal, c profiles.Catalogue, offered []profiles.Profile, unasked string, v Values) Form {
	profile := findProfile(offered, v[Profile], unasked)
	teams := Teams(p, c)
	team := v[Team]
	if len(teams) > 0 {
		team = valueAmong(v[Team], teams, teams[0])
	}
	declared, _, _ := c.Team(team)
	if !p.May(policy.ActCreate, team) {
		declared = profiles.Team{} // what another team has is nobody else's
	}
	form := Form{Profile: profile, Locked: Locked(profile)}
	for _, field := range []Field{
		{Name: Name, Kind: Text, Value: v[Name], Required: true},
		{Name: Profile, Kind: Choice, Value: profile.Name, Choices: profileOptions(offered), Required: true},
		{Name: Region, Kind: Choice, Value: valueAmong(v[Region], profile.RegionNames(), profile.DefaultRegion), Choices: regionOptions(profile), Required: true},
		{Name: Version, Kind: Choice, Value: valueAmong(v[Version], profile.Versions.Allow, profile.Versions.Default), Choices: toOptions(profile.Versions.Allow), Required: true},
		{Name: BaseDomain, Kind: Choice, Value: valueAmong(v[BaseDomain], profile.BaseDomains.Allow, profile.BaseDomains.Default), Choices: toOptions(profile.BaseDomains.Allow), Required: true},
		{Name: TTL, Kind: Text, Value: v[TTL], Unasked: duration.Format(profile.DefaultTTL), Hint: fmt.Sprintf("such as 8h, 90m or 2d; at most %s, by default %s", duration.Format(profile.MaxTTL), duration.Format(profile.DefaultTTL))},
		textOrChoice(Team, v[Team], teams),
		{Name: Owner, Kind: Text, Value: v[Owner], Unasked: p.Name},
		textOrChoice(CostCenter, v[CostCenter], declared.CostCenters),
		textOrChoice(Environment, v[Environment], declared.Environments),
		offHours(c, profile, team, v[OffHours]),
		addonsField(c, profile, v),
		{Name: SSHPublicKey, Kind: Lines, Value: v[SSHPublicKey]},
		{Name: ExtraTags, Kind: Lines, Value: v[ExtraTags]},
	} {
		if (field.Name == Addons || field.Name == OffHours) && len(field.Choices) == 0 || field.Name == ExtraTags && !profile.AllowUserTags {
			continue
		}
		label, hint := messages.FormField(field.Name)
		field.Label = label
		if field.Hint == "" {
			field.Hint = hint
		}
		form.Fields = append(form.Fields, field)
	}
	return form
}

// Teams lists, sorted, the teams for which the principal may create clusters; empty: any name may be typed.
func Teams(p policy.Principal, c profiles.Catalogue) (teams []string) {
	teams, every := p.Teams(policy.RolesFor(policy.ActCreate)...)
	if !every {
		return teams
	}
	for _, t := range c.Teams {
		teams = append(teams, t.Name)
	}
	slices.Sort(teams)
	return slices.Compact(teams)
}

// findProfile returns the profile with the name, otherwise the one to begin with.
func findProfile(offered []profiles.Profile, name, unasked string) (out profiles.Profile) {
	for _, p := range offered {
		if p.Name == name {
			return p
		}
		if p.Name == unasked {
			out = p
		}
	}
	return out
}

// textOrChoice is a choice if there is anything to choose from, otherwise a text.
func textOrChoice(name, value string, allowed []string) Field {
	if len(allowed) == 0 {
		return Field{Name: name, Kind: Text, Value: value}
	}
	return Field{Name: name, Kind: Choice, Value: valueAmong(value, allowed, allowed[0]), Choices: toOptions(allowed), Required: true}
}

// offHours offers the choice whether the cluster sleeps outside working hours, if somebody said when people work.
func offHours(c profiles.Catalogue, p profiles.Profile, team, value string) Field {
	field := Field{Name: OffHours, Kind: Choice}
	hours := c.HoursOf(p.Name, team)
	if hours.Empty() {
		return field
	}
	field.Hint = "working hours: " + hours.String()
	field.Choices = []Option{{Value: "true", Text: "it sleeps, and costs less"}}
	unasked := strconv.FormatBool(p.OffHours.Default)
	if allowed := []string{"true"}; p.OffHours.Required {
		field.Value = valueAmong(value, allowed, unasked)
		return field
	}
	field.Choices = append(field.Choices, Option{Value: "false", Text: "it stays awake"})
	field.Value = valueAmong(value, []string{"true", "false"}, unasked)
	return field
}

// addonsField offers what the profile allows. What was chosen for another profile gives way to what this one gives unasked.
func addonsField(c profiles.Catalogue, p profiles.Profile, v Values) Field {
	field := Field{Name: Addons, Kind: Choices, Value: strings.Join(p.Addons.Default, ",")}
	could := c.AddonsOf(p)
	for _, name := range could {
		a, _ := c.Addon(name)
		field.Choices = append(field.Choices, Option{Value: name, Text: sayAddonOption(name, a.Description)})
	}
	if picked, given := v[Addons]; given && v[AddonsFor] == p.Name {
		kept := slices.DeleteFunc(splitList(picked), func(name string) bool { return !slices.Contains(could, name) })
		field.Value = strings.Join(kept, ",")
	}
	return field
}

func profileOptions(offered []profiles.Profile) (out []Option) {
	for _, p := range offered {
		out = append(out, Option{Value: p.Name, Text: sayProfileOption(p.DisplayName, p.Enabled, p.AdminOnly), Off: !p.Enabled})
	}
	return out
}

func regionOptions(p profiles.Profile) (out []Option) {
	for _, r := range p.Regions {
		out = append(out, Option{Value: r.Name, Text: r.Name + ", " + price.Dollars(int64(r.HourlyCents)) + "/h"})
	}
	return out
}

func toOptions(values []string) (out []Option) {
	for _, v := range values {
		out = append(out, Option{Value: v, Text: v})
	}
	return out
}

// valueAmong returns the value if it is allowed, otherwise the other one.
func valueAmong(value string, allowed []string, other string) string {
	if slices.Contains(allowed, value) {
		return value
	}
	return other
}

// Values are the form's values as it shows them, with every default that is selected.
func (f Form) Values() Values {
	v := Values{}
	for _, field := range f.Fields {
		v[field.Name] = field.Value
		if field.Name == Addons {
			v[AddonsFor] = f.Profile.Name
		}
	}
	return v
}

// Blame returns what is wrong at each field of the form, and what is wrong beside them.
func (f Form) Blame(wrong []app.Field) (at map[string][]app.Field, others []app.Field) {
	at = map[string][]app.Field{}
	for _, w := range wrong {
		name, _, _ := strings.Cut(w.Name, ".") // a tag's field name ends with its key
		if name == "platform" {
			name = Profile // it follows from the profile
		}
		if f.Field(name).Name == "" {
			others = append(others, w)
			continue
		}
		at[name] = append(at[name], w)
	}
	return at, others
}

// sayProfileOption is a profile as a choice.
func sayProfileOption(name string, enabled, adminOnly bool) string {
	switch {
	case !enabled:
		return name + " (off)"
	case adminOnly:
		return name + " (admins only)"
	}
	return name
}

// sayAddonOption is an add-on as a choice.
func sayAddonOption(name, description string) string {
	if description == "" {
		return name
	}
	return name + ": " + description
}
