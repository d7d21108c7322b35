package app

import (
	"path"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
)

// Repository is one line of the server's table: whose the clusters of these repositories are.
type Repository struct {
	Match     string // owner/name or a glob such as acme/*; "*" never crosses the slash
	Ownership policy.Ownership
}

// Holds says whether the line is about a repository.
func (r Repository) Holds(repo string) bool {
	ok, _ := path.Match(strings.ToLower(r.Match), strings.ToLower(repo))
	return ok
}

// ownership finds the first line that matches the repository; the zero value when none does, which policy refuses.
func (d *Service) OwnershipOf(repo string) policy.Ownership {
	for _, line := range d.repos {
		if line.Holds(repo) {
			return line.Ownership
		}
	}
	return policy.Ownership{}
}

var nameChars = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)

// IsRepositoryName says whether GitHub could call an owner or a repository so. Dots alone would be a way through its addresses.
func IsRepositoryName(s string) bool { return nameChars.MatchString(s) && strings.Trim(s, ".") != "" }
