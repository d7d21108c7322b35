package profiles

import (
	"regexp"
	"strings"
)

// Fits reports whether a value matches a glob. Every "*" stands for one or more characters of any kind, everything else for itself.
// So acme/* is every repository of acme but not "acme/", and an empty value matches nothing.
func Fits(glob, value string) bool {
	head, rest, star := strings.Cut(glob, "*")
	after, ok := strings.CutPrefix(value, head)
	if !ok || !star {
		return ok && after == ""
	}
	next, _, _ := strings.Cut(rest, "*")
	for i := 1; i <= len(after); i++ {
		if strings.HasPrefix(after[i:], next) && Fits(rest, after[i:]) {
			return true
		}
	}
	return false
}

// FitsAny reports whether a value matches one of the globs.
func FitsAny(globs []string, value string) bool {
	for _, glob := range globs {
		if Fits(glob, value) {
			return true
		}
	}
	return false
}

// globForm rejects characters that are special in other globs but not in these.
var globForm = regexp.MustCompile(`^[^\s?\[\]{}\\]+( [^\s?\[\]{}\\]+)*$`)

const (
	globText  = `a glob such as acme/*, with at most four *, each for one or more characters; ? [ ] { } \ are not supported`
	mostStars = 4
)

func glob(s string) bool {
	return globForm.MatchString(s) && !strings.Contains(s, "**") && strings.Count(s, "*") <= mostStars
}
