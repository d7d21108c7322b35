// Package humanize formats and parses times, durations and money for ocpctl, and removes terminal control characters from texts that
// other people wrote.
package humanize

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Spans describes the form of a duration, for error messages.
const Spans = "24h, 2d, 1d12h, or a number of hours"

// spanPart is one number with its unit. Six digits keep every sum far below the longest time.Duration.
const spanPart = `^([0-9]{1,6})(days|day|d|hours|hour|hrs|hr|h|minutes|minute|mins|min|m)`

var endless = []string{"never", "none", "no", "forever", "infinite", "infinity", "unlimited", "∞"}

// Span parses a duration as people type it: 24h, 90m, 2d, 1d12h, or a plain number of hours.
func Span(text string) (time.Duration, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if _, err := strconv.ParseUint(text, 10, 20); err == nil {
		text += "h"
	}
	part := regexp.MustCompile(spanPart) // here instead of at package level, because every command would pay for compiling it at start
	var sum time.Duration
	last := 25 * time.Hour
	for text != "" {
		found := part.FindStringSubmatch(text)
		if found == nil {
			return 0, false
		}
		number, err := strconv.Atoi(found[1])
		unit := map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute}[found[2][0]]
		if err != nil || unit >= last { // units must descend: 1d12h, never 12h1d or 1h1h
			return 0, false
		}
		last, text = unit, text[len(found[0]):]
		sum += time.Duration(number) * unit
	}
	return sum, last <= 24*time.Hour
}

// Timeout parses how long to wait at most: Go's form of a duration, or days. The error is a sentence for people.
func Timeout(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		days, ok := Span(text)
		if !ok {
			return 0, fmt.Errorf("%q is not a duration; give for example 30s, 90m, 2h or 1d", text)
		}
		d = days
	}
	if d <= 0 {
		return 0, fmt.Errorf("the duration must be above zero, not %q; give for example 30s, 90m, 2h or 1d", text)
	}
	return d, nil
}

// Hours parses a duration that has to be whole hours above zero, because that is what the server stores. The error is a sentence for
// people.
func Hours(text string) (int, error) {
	d, ok := Span(text)
	switch {
	case slices.Contains(endless, strings.ToLower(text)), ok && d == 0, strings.HasPrefix(text, "-"):
		return 0, fmt.Errorf("%q is not a lifetime; every cluster has an end. Give %s, up to the profile's maximum. You can extend it later", text, Spans)
	case !ok:
		return 0, fmt.Errorf("%q is not a duration. Give %s", text, Spans)
	case d%time.Hour != 0:
		up := int(d/time.Hour) + 1
		return 0, fmt.Errorf("%q is not in whole hours. Give %s, e.g. %dh", text, Spans, up)
	}
	return int(d / time.Hour), nil
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
	if d, ok := Span(text); ok {
		return now.Add(-d).UTC(), nil
	}
	t, err := Moment(text)
	if err != nil {
		return t, fmt.Errorf("%w, or how long ago: 7d", err)
	}
	return t, nil
}
