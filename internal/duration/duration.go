// Package duration is the only place that reads durations which people type, and writes durations which people read. What programs read
// (JSON, metrics, stored files) keeps its own form.
package duration

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Accepted says what ParseHours reads, for error messages.
const Accepted = "90m, 4h, 1h30m, 2d, or a number of hours"

const (
	// Day is 24 hours; durations know no calendar.
	Day = 24 * time.Hour
	// mostHours is up to where Format counts hours: lifetimes of a few days are asked for in hours.
	mostHours = 96 * time.Hour
)

var units = map[string]time.Duration{
	"d": Day, "day": Day, "days": Day,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"s": time.Second, "ms": time.Millisecond,
}

// part matches one number with its unit. It is compiled when it is first needed, because every command of ocpctl would pay for it at its
// start.
var part = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ ?([0-9]{1,6}(?:\.[0-9]{1,9})?) ?([a-z]+)`)
})

// Parse reads a duration: numbers with units that descend, such as 90m, 1h30m, 1.5h, 2d or what Format writes. A sign is read, so that the
// caller can say why it refuses one.
func Parse(text string) (time.Duration, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		d, ok := Parse(rest)
		return -d, ok && d >= 0
	}
	var sum time.Duration
	longest, last := float64(math.MaxInt64), 2*Day
	for ok := true; ok; ok = text != "" {
		found := part().FindStringSubmatch(text)
		if found == nil {
			return 0, false
		}
		number, err := strconv.ParseFloat(found[1], 64)
		unit := units[found[2]]
		if err != nil || unit == 0 || unit >= last {
			return 0, false
		}
		length := number * float64(unit)
		if longest -= length; longest <= 0 { // a time.Duration ends after 292 years
			return 0, false
		}
		last, text = unit, text[len(found[0]):]
		sum += time.Duration(length).Round(time.Microsecond)
	}
	return sum, true
}

// ParseHours reads what Parse does, and a plain number of hours.
func ParseHours(text string) (time.Duration, bool) {
	if _, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
		text += "h"
	}
	return Parse(text)
}

// endless are words for no end.
var endless = []string{"never", "none", "no", "forever", "infinite", "infinity", "unlimited", "∞"}

// ParseLifetime reads what ParseHours does, and words for no end, such as "never". They give zero, as 0 does.
func ParseLifetime(text string) (time.Duration, bool) {
	if slices.Contains(endless, strings.ToLower(strings.TrimSpace(text))) {
		return 0, true
	}
	return ParseHours(text)
}

// Format writes a duration for people in its two largest units: 45 s, 9 min 30 s, 23 h 58 min, 72 h, 4 d 5 h. Seconds are dropped from ten
// minutes on, and days begin after 96 hours.
func Format(d time.Duration) string {
	if d < 0 {
		return "-" + Format(-d)
	}
	d = d.Round(time.Second)
	if d >= 10*time.Minute {
		d = d.Round(time.Minute)
	}
	var texts []string
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{Day, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := d / unit.length; n > 0 && len(texts) < 2 && (unit.length < Day || d > mostHours) {
			texts = append(texts, fmt.Sprintf("%d %s", n, unit.name))
			d -= n * unit.length
		}
	}
	if texts == nil {
		return "0 s"
	}
	return strings.Join(texts, " ")
}

// Typed writes a duration as people type it in a command or a file: 30s, 4h, 1h30m.
func Typed(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if rest, found := strings.CutSuffix(text, zero); found {
			text = rest + zero[:1]
		}
	}
	return text
}

// Away says how far a time is from now: "in 3 h", "5 min ago"; empty for no time.
func Away(t, now time.Time) string {
	switch d := t.Sub(now); {
	case t.IsZero():
		return ""
	case d.Abs() < time.Second:
		return "now"
	case d < 0:
		return Format(-d) + " ago"
	default:
		return "in " + Format(d)
	}
}
