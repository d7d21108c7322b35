// Package closest finds what a person meant by a word that is not known.
package closest

import "strings"

// Match finds the candidate that a person most likely meant by word: the nearest by edits (letters added, removed, changed or
// swapped), or the only one that starts with it. ok is false if none is near enough to suggest.
func Match(word string, candidates []string) (best string, ok bool) {
	word = strings.ToLower(strings.TrimSpace(word))
	if word == "" || len(word) > 64 {
		return "", false
	}
	least := len(word)/3 + 1
	for _, c := range candidates {
		if d := distance(word, strings.ToLower(c)); d <= least && d < max(len(word), len(c)) && (!ok || d < least) {
			best, ok, least = c, true, d
		}
	}
	if ok {
		return best, true
	}
	return onlyPrefixed(word, candidates)
}

func onlyPrefixed(word string, candidates []string) (best string, ok bool) {
	for _, c := range candidates {
		if !strings.HasPrefix(strings.ToLower(c), word) || len(word) < 2 {
			continue
		}
		if ok {
			return "", false
		}
		best, ok = c, true
	}
	return best, ok
}

// distance counts the edits between two words; swapping neighbours is one edit (optimal string alignment).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
