// Package pick chooses from lists by a condition, for the stand-ins' worlds, which are lists of pointers in order of creation.
package pick

// First returns the first element that matches; nil: none does.
func First[E any](all []*E, match func(*E) bool) *E {
	for _, e := range all {
		if match(e) {
			return e
		}
	}
	return nil
}

// Every returns the elements that match, in a new list; nil: none does.
func Every[E any](all []E, match func(E) bool) []E {
	var out []E
	for _, e := range all {
		if match(e) {
			out = append(out, e)
		}
	}
	return out
}
