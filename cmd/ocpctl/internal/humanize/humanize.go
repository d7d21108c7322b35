package humanize

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Long formats a duration in its two largest units: 45 s, 12 min, 3 h 20 min, 2 d 5 h.
func Long(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return both(int(d.Hours()), "h", int(d.Minutes())%60, "min")
	}
	return both(int(d.Hours())/24, "d", int(d.Hours())%24, "h")
}

func both(large int, unit string, small int, smaller string) string {
	if small == 0 {
		return fmt.Sprintf("%d %s", large, unit)
	}
	return fmt.Sprintf("%d %s %d %s", large, unit, small, smaller)
}

// Away says how far a time is from now: "in 3 h", "5 min ago"; empty for no time.
func Away(t, now time.Time) string {
	switch d := t.Sub(now); {
	case t.IsZero():
		return ""
	case d.Abs() < time.Second:
		return "now"
	case d < 0:
		return Long(-d) + " ago"
	default:
		return "in " + Long(d)
	}
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
	return Stamp(t) + " (" + Away(t, now) + ")"
}

// Dollars formats US cents: $1,234.50.
func Dollars(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	whole := fmt.Sprint(cents / 100)
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	return fmt.Sprintf("%s$%s.%02d", sign, whole, cents%100)
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
