package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/closest"
	"github.com/ocpctl/ocpctl/profiles"
)

// chooseAddons returns the add-ons that the cluster gets: those that the request picks, otherwise those of the repository's file, otherwise
// the profile's.
func (j judging) chooseAddons() []string {
	if j.r.Addons != nil {
		return *j.r.Addons
	}
	if f := j.r.File; f != nil && len(f.Addons) > 0 {
		return f.Addons
	}
	return j.profile.Addons.Default
}

// describePicker names what picked the add-ons, and where the pick is changed; where is empty if it is the request or the profile itself.
func (j judging) describePicker() (name, where string) {
	switch {
	case j.r.Addons != nil:
		return "the request", ""
	case j.r.File != nil && len(j.r.File.Addons) > 0:
		return fileOf(j.r), " in " + profiles.RepositoryFilePath + " on the base branch"
	}
	return "profile " + j.profile.Name, ""
}

// checkAddons checks that the profile allows the selected add-ons.
func (j judging) checkAddons() Check {
	names := j.chooseAddons()
	picker, where := j.describePicker()
	could := j.terms.Catalogue.AddonsOf(j.profile)
	var checks []Check
	for _, name := range names {
		checks = append(checks, j.checkAddon(name, could, picker, where))
	}
	if len(names) > profiles.MostAddons {
		checks = append(checks, Check{
			Name: "most", Result: Fail, Asked: fmt.Sprint(len(names)), Accept: fmt.Sprintf("at most %d", profiles.MostAddons),
			Message: fmt.Sprintf("A cluster may have %d add-ons, and %s picks %d.", profiles.MostAddons, picker, len(names)),
			Next:    fmt.Sprintf("Pick at most %d%s.", profiles.MostAddons, where), NextSaysAccept: true,
		})
	}
	whose := picker + " picks"
	if j.r.Addons == nil && where == "" {
		whose = picker + " gives each of its clusters"
	}
	check := combineChecks("add-ons", fmt.Sprintf("It gets what %s: %s.", whose, strings.Join(names, ", ")), checks)
	if len(names) == 0 {
		check.Message = "It gets no add-ons, as the request says."
	}
	if later := j.listMissingAddons(names); len(later) > 0 && check.Result == Pass {
		check.Message += fmt.Sprintf(" On a cluster from a pool, %s is installed after the claim.", strings.Join(later, ", "))
	}
	check.Asked, check.Accept = strings.Join(names, ", "), strings.Join(could, ", ")
	return check
}

// listMissingAddons returns the add-ons that a cluster lacks that waits in a pool for such a request. One that has others than these cannot be taken.
func (j judging) listMissingAddons(names []string) []string {
	has := j.profile.Addons.Default
	isOpen := func(p profiles.Pool) bool { return p.Profile == j.profile.Name && p.MayClaim(j.own.Team) }
	if !j.terms.Claims || j.stranger || !slices.ContainsFunc(j.terms.Catalogue.Pools, isOpen) ||
		slices.ContainsFunc(has, func(name string) bool { return !slices.Contains(names, name) }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(has, name) })
}

func (j judging) checkAddon(name string, could []string, picker, where string) Check {
	a, known := j.terms.Catalogue.Addon(name)
	check := Check{Name: name, Result: Pass, Message: a.Description}
	if known && j.profile.Addons.Has(name) {
		return check
	}
	check.Result = Fail
	check.Message = fmt.Sprintf("There is no add-on %q, which %s picks.", name, picker)
	if known {
		check.Message = fmt.Sprintf("Profile %s does not allow the add-on %s, which %s picks.", j.profile.Name, name, picker)
	}
	check.Next = fmt.Sprintf("Take it out%s: profile %s allows none.", ofAddons(where), j.profile.Name)
	if len(could) > 0 {
		check.Next = fmt.Sprintf("Pick of these%s: %s.", where, strings.Join(could, ", "))
	}
	if near, ok := closest.Match(name, could); ok {
		check.Next = fmt.Sprintf("Did you mean %s? %s", near, check.Next)
	}
	return check
}

// ofAddons says of what an add-on is taken out: of the file's list, or of the request.
func ofAddons(where string) string {
	if where == "" {
		return ""
	}
	return " of addons" + where
}
