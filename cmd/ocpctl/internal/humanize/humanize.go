package humanize

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// Stamp formats a time as in every output for people; empty for no time.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// When formats a time and how far away it is.
func When(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return Stamp(t) + " (" + duration.Away(t, now) + ")"
}

// Whose says whose problem a failure is, for the API's value; an unknown value is returned unchanged.
func Whose(word string) string {
	said, known := map[string]string{
		"user": "you: the request cannot be fulfilled as it is", "quota": "the owner of the cloud account's limits", "cloud": "the cloud provider: wait and try again",
		"installer": "the installer or the OpenShift release", "ocpctl": "the administrators of this ocpctl server",
	}[word]
	if !known {
		return word
	}
	return said
}

// Plain writes a state with spaces.
func Plain[T ~string](state T) string { return strings.ReplaceAll(string(state), "_", " ") }

// Count returns a number with its noun: 1 cluster, 2 clusters, 3 policies.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Line makes one line of somebody else's text, without characters that would move a terminal's cursor, change its colours or reverse
// its text.
func Line(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }

// Clean removes terminal control characters and colours from a text; line ends and tabs stay.
func Clean(text string) string {
	for {
		start := strings.Index(text, "\x1b[")
		if start < 0 {
			break
		}
		end := start + 2
		for end < len(text) && (text[end] < '@' || text[end] > '~') {
			end++
		}
		text = text[:start] + text[min(end+1, len(text)):]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == unicode.ReplacementChar, unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, text)
}
