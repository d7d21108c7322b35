// Package humanize formats and parses times, durations and money for ocpctl, and removes terminal control characters from texts that
// other people wrote.
package humanize

import (
	"fmt"
	"time"

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
