package policy

import (
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/profiles"
)

// addons returns the add-ons that the cluster gets: those that the repository's file selects, otherwise the profile's.
func (j judging) addons() []string {
	if f := j.r.File; f != nil && len(f.Addons) > 0 {
		return f.Addons
	}
	return j.profile.Addons.Default
}

// checkAddons checks that the profile allows the selected add-ons.
func (j judging) checkAddons() Check {
	names := j.addons()
	picked := j.r.File != nil && len(j.r.File.Addons) > 0
	could := j.terms.Catalogue.AddonsOf(j.profile)
	var checks []Check
	for _, name := range names {
		checks = append(checks, j.checkAddon(name, could))
	}
	if len(names) > profiles.MostAddons {
		checks = append(checks, Check{
			Name: "most", Result: Fail, Asked: fmt.Sprint(len(names)), Accept: fmt.Sprintf("at most %d", profiles.MostAddons),
			Message: fmt.Sprintf("%s picks %d add-ons, and a cluster may have %d.", fileOf(j.r), len(names), profiles.MostAddons),
			Next:    fmt.Sprintf("Pick at most %d in %s on the base branch.", profiles.MostAddons, profiles.RepositoryFilePath),
		})
	}
	whose := "profile " + j.profile.Name + " gives each of its clusters"
	if picked {
		whose = fileOf(j.r) + " picks"
	}
	check := whole("add-ons", fmt.Sprintf("It gets what %s: %s.", whose, strings.Join(names, ", ")), checks)
	check.Asked, check.Accept = strings.Join(names, ", "), strings.Join(could, ", ")
	return check
}

func (j judging) checkAddon(name string, could []string) Check {
	a, known := j.terms.Catalogue.Addon(name)
	check := Check{Name: name, Result: Pass, Message: a.Description}
	if known && j.profile.Addons.Has(name) {
		return check
	}
	check.Result = Fail
	check.Message = fmt.Sprintf("There is no add-on %q, which %s picks.", name, fileOf(j.r))
	if known {
		check.Message = fmt.Sprintf("Profile %s does not allow the add-on %s, which %s picks.", j.profile.Name, name, fileOf(j.r))
	}
	check.Next = fmt.Sprintf("Take it out of addons in %s on the base branch: profile %s allows none.", profiles.RepositoryFilePath, j.profile.Name)
	if len(could) > 0 {
		check.Next = fmt.Sprintf("Pick of these in %s on the base branch: %s.", profiles.RepositoryFilePath, strings.Join(could, ", "))
	}
	if near, ok := Closest(name, could); ok {
		check.Next = fmt.Sprintf("Did you mean %s? %s", near, check.Next)
	}
	return check
}
