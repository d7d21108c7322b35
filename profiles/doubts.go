package profiles

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/closest"
)

// Doubts lists what a repository's file asks for in vain, each with its position: profiles that nobody can have, and lifetimes that
// are limited, and sleep for clusters that cannot. Doubts block nothing. A file that cannot be read has problems instead, and no doubts.
func (c Catalogue) Doubts(raw []byte) Problems {
	f, r := loadRepositoryFile(raw)
	if len(r.problems) > 0 {
		return nil
	}
	var could []string
	for _, p := range c.profiles {
		if p.Enabled && !p.AdminOnly {
			could = append(could, p.Name)
		}
	}
	if f.Default != "" {
		c.doubt(r, "defaultProfile", f.Default, could)
	}
	for i, glob := range f.Profiles {
		c.doubt(r, fmt.Sprintf("profiles[%d]", i), glob, could)
	}
	c.doubtTTL(r, f, could)
	c.doubtAddons(r, f, could)
	c.doubtOffHours(r, f, could)
	return r.sortProblems()
}

// doubt reports a name or a glob that matches no available profile.
func (c Catalogue) doubt(r *reader, path, glob string, could []string) {
	if slices.ContainsFunc(could, func(name string) bool { return Fits(glob, name) }) {
		return
	}
	why, accept := "which matches no profile of the catalogue", strings.Join(could, ", ")
	if p, known := c.Get(glob); known && p.Enabled {
		why = "which only platform admins may have"
	} else if known {
		why = "which is disabled"
	} else if near, ok := closest.Match(glob, could); ok {
		accept = near + " (closest match); one of " + accept
	}
	r.failAt(path, fmt.Sprintf("%q, %s", glob, why), accept)
}

// doubtTTL reports a lifetime that is longer than the repository's profiles allow.
func (c Catalogue) doubtTTL(r *reader, f RepositoryFile, could []string) {
	var short []string
	most := f.TTL
	for _, name := range could {
		p, _ := c.Get(name)
		if p.MaxTTL < f.TTL && (len(f.Profiles) == 0 || FitsAny(f.Profiles, name)) {
			short, most = append(short, name), min(most, p.MaxTTL)
		}
	}
	if len(short) > 0 {
		r.failAt("ttl", fmt.Sprintf("%gh, which is limited to the maximum of %s", f.TTL.Hours(), strings.Join(short, ", ")), fmt.Sprintf("at most %gh", most.Hours()))
	}
}

// doubtOffHours reports a choice about the time outside working hours with which requests for one of the repository's profiles are refused.
// Working hours can come from a team, so whether there are any is not said here.
func (c Catalogue) doubtOffHours(r *reader, f RepositoryFile, could []string) {
	if f.OffHours == nil {
		return
	}
	for _, name := range could {
		p, _ := c.Get(name)
		switch listed := len(f.Profiles) == 0 || FitsAny(f.Profiles, name); {
		case !listed:
		case *f.OffHours && p.Sleep == SleepNever:
			r.failAt("offHours", fmt.Sprintf("true, and clusters of %s cannot sleep", name), "profiles whose clusters can sleep, or no offHours")
			return
		case !*f.OffHours && p.OffHours.Required:
			r.failAt("offHours", fmt.Sprintf("false, and every cluster of %s sleeps outside working hours", name), "true, or no offHours")
			return
		}
	}
}
