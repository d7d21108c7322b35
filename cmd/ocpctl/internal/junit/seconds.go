package junit

import (
	"regexp"
	"strconv"
	"strings"
)

// longestTest is the longest time that a test can take, in seconds. What takes longer is a mistake of its writer, such as a time since 1970.
const longestTest = 30 * 24 * 60 * 60

var (
	grouped    = regexp.MustCompile(`^\d{1,3}(?:,\d{3})+\.\d+$|^\d{1,3}(?:,\d{3}){2,}$`) // 1,234.5: Surefire
	pointed    = regexp.MustCompile(`^\d{1,3}(?:\.\d{3})+,\d+$`)                         // 1.234,5
	clock      = regexp.MustCompile(`^(\d+):(\d{1,2}):(\d{1,2}(?:[.,]\d+)?)$`)           // 00:01:02.5: .NET
	separators = strings.NewReplacer("\u00a0", "", "\u202f", "", " ", "", "'", "", "’", "")
)

// parseSeconds reads a time in any notation of numbers. What cannot be a test's time counts as none.
func parseSeconds(text string) float64 {
	text = strings.TrimSuffix(separators.Replace(text), "s")
	if c := clock.FindStringSubmatch(text); c != nil {
		return possibleSeconds(parseSeconds(c[1])*3600 + parseSeconds(c[2])*60 + parseSeconds(c[3]))
	}
	switch {
	case grouped.MatchString(text):
		text = strings.ReplaceAll(text, ",", "")
	case pointed.MatchString(text):
		text = strings.ReplaceAll(strings.ReplaceAll(text, ".", ""), ",", ".")
	default:
		text = strings.Replace(text, ",", ".", 1)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return possibleSeconds(n)
}

// possibleSeconds returns a time that a test can have taken, and 0 in place of any other.
func possibleSeconds(n float64) float64 {
	if n >= 0 && n <= longestTest {
		return n
	}
	return 0 // NaN too
}
