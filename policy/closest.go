package policy

import "github.com/ocpctl/ocpctl/profiles"

// Closest finds the candidate a person most likely meant by word; see profiles.Closest, which those who may not know the
// catalogue ask through here.
func Closest(word string, candidates []string) (best string, ok bool) {
	return profiles.Closest(word, candidates)
}
