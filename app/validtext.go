package app

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/chatops/messages"
)

// Keepable reports whether a text can be stored: the database accepts only UTF-8 without NUL. Entry points refuse other texts
// before they look anything up.
func Keepable(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// Unkept returns the named texts that cannot be stored, as fields.
func Unkept(texts map[string][]string) (wrong []Field) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if !Keepable(name) || slices.ContainsFunc(texts[name], func(text string) bool { return !Keepable(text) }) {
			wrong = append(wrong, ProblemOf(strings.ToValidUTF8(name, "\uFFFD"), messages.Problem{"it holds a NUL, or bytes that are no UTF-8", []string{"text in UTF-8, without NUL"}}))
		}
	}
	return wrong
}
