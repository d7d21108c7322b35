package auth

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits for reading a token's claims. Real tokens are far below them.
const (
	deepest   = 4   // a Kubernetes service account's name is at kubernetes.io.serviceaccount.name
	mostTexts = 500 // values altogether
)

// mostSubject limits the length of a subject, which is in every row and line about it.
const mostSubject = 1000

// isAcceptableSubject reports whether a subject is acceptable: it may not break a line, reverse text direction or be too long.
func isAcceptableSubject(subject string) bool {
	return subject != "" && len(subject) <= mostSubject && isLegible(subject)
}

// isLegible reports that a text is one line of printable characters without control effects.
func isLegible(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
}

// flattenClaims converts claims to texts: strings, numbers and booleans as they are, lists value by value, the fields of an object under
// names joined with dots. Deeper values, null, texts that are not legible and values without a name are left out.
func flattenClaims(claims map[string]any) map[string][]string {
	values, left := map[string][]string{}, mostTexts
	flattenInto(values, "", claims, deepest, &left)
	return values
}

func flattenInto(values map[string][]string, name string, claim any, deep int, left *int) {
	if deep < 0 || *left <= 0 {
		return
	}
	switch c := claim.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(c)) { // in a fixed order, so that the same token always gives the same result
			if key == "" {
				continue // a nested field would look like a top-level one
			}
			inner := key
			if name != "" {
				inner = name + "." + key
			}
			flattenInto(values, inner, c[key], deep-1, left)
		}
	case []any:
		for _, item := range c {
			flattenInto(values, name, item, deep-1, left)
		}
	default:
		if text, ok := textOf(c); ok {
			values[name] = append(values[name], text)
			*left--
		}
	}
}

func textOf(claim any) (string, bool) {
	switch c := claim.(type) {
	case string:
		return c, c != "" && isLegible(c)
	case bool:
		return strconv.FormatBool(c), true
	case json.Number:
		return c.String(), true
	case float64:
		return strconv.FormatFloat(c, 'f', -1, 64), true
	}
	return "", false
}

// nameOf names somebody for people: a person's name, a workflow's repository and who triggered it, a service account. Empty: use the
// subject.
func nameOf(values map[string][]string) string {
	first := func(name string) string {
		if list := values[name]; len(list) > 0 {
			return list[0]
		}
		return ""
	}
	account, namespace := first("kubernetes.io.serviceaccount.name"), first("kubernetes.io.namespace")
	switch {
	case first("name") != "":
		return first("name")
	case first("repository") != "" && first("actor") != "":
		return first("repository") + " by " + first("actor")
	case account != "" && namespace != "":
		return namespace + "/" + account
	}
	return first("email")
}
