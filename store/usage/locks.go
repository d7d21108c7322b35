package usage

import (
	"slices"
)

func (s Scope) Locks() (names []string) {
	for kind, key := range map[string]string{"person": s.Person, "team": s.Team, "repository": s.Repo} {
		if key != "" {
			names = append(names, "quota "+kind+" "+key)
		}
	}
	if s.Everywhere {
		names = append(names, "quota everywhere")
	}
	if s.Cohort != nil {
		names = append(names, "quota cohort "+s.Cohort.Name)
	}
	if s.Accounts {
		names = append(names, "accounts")
	}
	slices.Sort(names)
	return names
}
