// Package pick chooses from lists by a condition, and converts them, for the stand-ins' worlds, which are lists in order of creation.
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

// Map returns what each element becomes, in a new list, which is empty but not nil if there is none.
func Map[E, T any](all []E, become func(E) T) []T {
	out := make([]T, 0, len(all))
	for _, e := range all {
		out = append(out, become(e))
	}
	return out
}
