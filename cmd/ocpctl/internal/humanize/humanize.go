// Package humanize formats and parses times, durations and money for ocpctl, and removes terminal control characters from texts that
// other people wrote.
package humanize

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// Timeout parses how long to wait at most. The error is a sentence for people.
func Timeout(text string) (time.Duration, error) {
	d, ok := duration.ParseHours(text)
	if !ok || d <= 0 {
		return 0, fmt.Errorf("%q is not a duration above zero. Give %s", text, duration.Accepted)
	}
	return d, nil
}

// Lifetime checks a duration above zero as people type it, and returns it as the server reads it. The error is a sentence for people.
func Lifetime(text string) (string, error) {
	d, ok := duration.ParseLifetime(text)
	switch {
	case !ok:
		return "", fmt.Errorf("%q is not a duration. Give %s", text, duration.Accepted)
	case d <= 0:
		return "", fmt.Errorf("%q is not a lifetime; every cluster has an end. Give %s, up to the profile's maximum. You can extend it later", text, duration.Accepted)
	}
	return duration.Typed(d), nil
}

// Moment parses a time as people type it: RFC 3339, a date, or a date with hours and minutes, in UTC.
func Moment(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time. Give %s (UTC)", text, Moments)
}

// Moments describes the form of a time, for error messages.
const Moments = "2025-03-01, 2025-03-01 15:04 or 2025-03-01T15:04:05Z"

// Past parses a time in the past: a time, or how long ago (7d).
func Past(text string, now time.Time) (time.Time, error) {
	if d, ok := duration.ParseHours(text); ok && d >= 0 {
		return now.Add(-d).UTC(), nil
	}
	t, err := Moment(text)
	if err != nil {
		return t, fmt.Errorf("%w, or how long ago: 7d", err)
	}
	return t, nil
}

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
