package profiles

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// agree compares values from different files, but only those without a problem of their own.
func (l *loader) agree() {
	once(l.quotas, "quotas", func(q Quota) string { return q.Name })
	once(l.identities, "identities", func(i Identity) string { return i.Name })
	l.agreePeople()
	other := ""
	for _, p := range l.profiles {
		l.agreeAddons(p)
		if p.value.IsDefault && p.from.good("default") {
			if other != "" {
				p.from.failAt("default", "true, as in "+other, "true in one profile at most")
			}
			other = p.from.file
		}
	}
	l.agreeNamespaces()
	l.agreePrices()
	for i := range l.pools {
		l.agreePool(&l.pools[i])
	}
	l.agreeAccounts()
	for _, q := range l.quotas {
		compareQuota(q)
		l.agreeQuota(q)
	}
	l.agreeCohorts()
	for _, i := range l.identities {
		compareIdentity(i)
		l.agreeIdentity(i)
	}
	for _, p := range l.policies {
		l.agreePolicy(p)
	}
}

// once checks that a name is unique in all files of a kind.
func once[T any](all []entry[T], kind string, name func(T) string) {
	first := map[string]string{}
	for _, e := range all {
		at, n := e.path("name"), name(e.value)
		if !e.from.good(at) {
			continue
		}
		if where, again := first[n]; again {
			e.from.failAt(at, fmt.Sprintf("%q again, as in %s", n, where), "each name once in all of "+kind)
			continue
		}
		first[n] = fmt.Sprintf("%s:%d", e.from.file, e.from.lines[at])
	}
}

// listNames lists the names of all objects, even with problems, so that a problem is not reported again for each reference.
func listNames[T any](all []entry[T]) []string {
	names := make([]string, 0, len(all))
	for _, e := range all {
		names = append(names, strings.TrimSuffix(path.Base(e.from.file), ".yaml"))
	}
	return names
}

// fit reports whether a glob matches one of the names.
func fit(glob string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return Fits(glob, name) })
}

func (l *loader) agreeQuota(q entry[Quota]) {
	teams := listNames(l.teams)
	for i, match := range q.value.Match {
		at := fmt.Sprintf("%s[%d]", q.path("match"), i)
		if q.value.Scope == ScopeTeam && len(teams) > 0 && q.from.good(at) && !fit(match, teams) {
			q.from.failAt(at, fmt.Sprintf("%q, which is not a team", match), "a team or a glob that matches one: "+strings.Join(teams, ", "))
		}
	}
}

func (l *loader) agreeIdentity(e entry[Identity]) {
	teams := listNames(l.teams)
	for k, team := range e.value.Teams {
		at := fmt.Sprintf("%s[%d]", e.path("teams"), k)
		if _, _, taken := teamFrom(team); taken || team == everyTeam || len(teams) == 0 || !e.from.good(at) {
			continue
		}
		if !slices.Contains(teams, team) {
			e.from.failAt(at, fmt.Sprintf("%q, which is not a team", team), "one of "+strings.Join(teams, ", "))
		}
	}
}

func (l *loader) agreePolicy(e entry[Policy]) {
	names := listNames(l.profiles)
	for i, match := range e.value.Profiles {
		at := fmt.Sprintf("match.profiles[%d]", i)
		if e.from.good(at) && len(names) > 0 && !fit(match, names) {
			e.from.failAt(at, fmt.Sprintf("%q, which matches no profile", match), "a profile or a glob that matches one: "+strings.Join(names, ", "))
		}
	}
	for i, rule := range e.value.Rules {
		at := fmt.Sprintf("rules[%d].set", i)
		for _, name := range Settable {
			value, set := rule.Set[name]
			accept := l.values(name, e.value)
			if set && e.from.good(at+"."+name) && len(accept) > 0 && !slices.Contains(accept, value) {
				e.from.failAt(at+"."+name, fmt.Sprintf("%q, which no request can have", value), "one of "+strings.Join(accept, ", "))
			}
		}
	}
}

// values lists what a default may set a field to: what one of the policy's profiles or one of the teams allows. Empty: anything, or
// unknown because a file has a problem.
func (l *loader) values(field string, p Policy) []string {
	if field == "profile" {
		return listNames(l.profiles)
	}
	var values []string
	for _, e := range l.profiles {
		if len(e.from.problems) > 0 {
			return nil
		}
		if len(p.Profiles) > 0 && !FitsAny(p.Profiles, e.value.Name) {
			continue
		}
		switch field {
		case "version":
			values = append(values, e.value.Versions.Allow...)
		case "region":
			values = append(values, e.value.RegionNames()...)
		case "baseDomain":
			values = append(values, e.value.BaseDomains.Allow...)
		}
	}
	for _, e := range l.teams {
		if len(e.from.problems) > 0 {
			return nil
		}
		switch field {
		case "costCenter":
			values = append(values, e.value.CostCenters...)
		case "environment":
			values = append(values, e.value.Environments...)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}
