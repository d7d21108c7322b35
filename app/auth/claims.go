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

// What of a token is read at most. Real ones are far below it.
const (
	deepest   = 4   // a Kubernetes service account's name stands at kubernetes.io.serviceaccount.name
	mostTexts = 500 // values in all
)

// mostSubject bounds what somebody is called: it stands in every row and line of theirs.
const mostSubject = 1000

// callable says whether somebody can be called so: what would break a line, turn a text around or has no end is nobody.
func callable(subject string) bool {
	return subject != "" && len(subject) <= mostSubject && legible(subject)
}

// legible says that a text is one line of characters that do nothing but show.
func legible(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
}

// flatten makes texts of claims: strings, numbers and booleans as they are, lists value by value, what stands within an
// object under its name with dots. What lies deeper, null, what is not legible and what has no name is left out.
func flatten(claims map[string]any) map[string][]string {
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
		for _, key := range slices.Sorted(maps.Keys(c)) { // in one order, so that the same token always reads the same
			if key == "" {
				continue // what stands within would pass for what stands at the top
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
		return c, c != "" && legible(c)
	case bool:
		return strconv.FormatBool(c), true
	case json.Number:
		return c.String(), true
	case float64:
		return strconv.FormatFloat(c, 'f', -1, 64), true
	}
	return "", false
}

// nameOf says who somebody is in a word for people: a person's name, a workflow's repository and who set it off, a service
// account. Empty: the subject will do.
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
