package chatops

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/policy"
)

const spanText = "a duration is 4h, 90m, 2d, 1d12h, or a number of hours."

// spanPart is one number with its unit. Six digits keep every sum far below the largest time.Duration.
var (
	spanPart = regexp.MustCompile(`^([0-9]{1,6}(?:\.[0-9]{1,3})?)(days|day|d|hours|hour|hrs|hr|h|minutes|minute|mins|min|m)`)
	spanHour = regexp.MustCompile(`^[0-9]{1,6}(?:\.[0-9]{1,3})?$`)
)

var endless = []string{"never", "none", "no", "forever", "infinite", "infinity", "unlimited", "∞"}

// span parses a duration as people type it. It accepts a sign, so that policy can explain its refusal.
func span(text string) (time.Duration, bool) {
	text = strings.ToLower(text)
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		d, ok := span(rest)
		return -d, ok && !strings.HasPrefix(rest, "-")
	}
	if spanHour.MatchString(text) {
		text += "h"
	}
	var sum time.Duration
	last := 25 * time.Hour
	for text != "" {
		part := spanPart.FindStringSubmatch(text)
		if part == nil {
			return 0, false
		}
		number, err := strconv.ParseFloat(part[1], 64)
		unit := map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute}[part[2][0]]
		if err != nil || unit >= last { // units must descend: 1d12h, never 12h1d or 1h1h
			return 0, false
		}
		last, text = unit, text[len(part[0]):]
		sum += time.Duration(number * float64(unit)).Round(time.Second)
	}
	return sum, last <= 24*time.Hour
}

// lifetime parses a lifetime: a duration, or one of the words for "no end", so that policy can explain its refusal.
func lifetime(text string) (time.Duration, bool) {
	if slices.Contains(endless, strings.ToLower(text)) {
		return policy.NoEnd, true
	}
	d, ok := span(text)
	if ok && d == 0 {
		return policy.NoEnd, true
	}
	return d, ok
}
