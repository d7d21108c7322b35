package app

import (
	"path"
	"regexp"
	"strings"

	"github.com/ocpctl/ocpctl/policy"
)

// Repository maps repositories to the ownership of their clusters.
type Repository struct {
	Match     string // owner/name or a glob such as acme/*; "*" does not match the slash
	Ownership policy.Ownership
}

// Holds reports whether the entry applies to a repository.
func (r Repository) Holds(repo string) bool {
	ok, _ := path.Match(strings.ToLower(r.Match), strings.ToLower(repo))
	return ok
}

// OwnershipOf returns the ownership of the first entry that matches the repository; the zero value if none does, which policy
// refuses.
func (s *Service) OwnershipOf(repo string) policy.Ownership {
	for _, line := range s.repos {
		if line.Holds(repo) {
			return line.Ownership
		}
	}
	return policy.Ownership{}
}

var nameChars = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}$`)

// IsRepositoryName reports whether s can be the name of a GitHub owner or repository. Dots alone would be a path traversal in
// URLs.
func IsRepositoryName(s string) bool { return nameChars.MatchString(s) && strings.Trim(s, ".") != "" }
