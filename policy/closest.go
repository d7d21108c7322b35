package policy

import "github.com/ocpctl/ocpctl/profiles"

// Closest finds the candidate that a person most likely meant by word. It passes profiles.Closest on to packages that may not import
// profiles.
func Closest(word string, candidates []string) (best string, ok bool) {
	return profiles.Closest(word, candidates)
}
