package chatops

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The limits of a comment's fold.
const (
	maxMoments    = 30
	maxConditions = 20
	maxLogLines   = 100
	maxLogLine    = 400 // characters
	maxFoldText   = 200 // characters of the text of a moment or condition
)

const (
	foldBegin = "\n<details>\n<summary>Details</summary>\n\n"
	foldEnd   = "</details>\n"
)

// fold renders the expandable part: timeline, conditions and the end of the log, in at most limit bytes. If they do not fit, the log
// is cut first and then the timeline, each from its beginning.
func fold(d Detail, limit int) string {
	limit -= len(foldBegin) + len(foldEnd)
	conditions := conditions(d.Conditions)
	if len(conditions) > limit {
		conditions = ""
	}
	timeline := timeline(d.Timeline, limit-len(conditions))
	log := tail(d.Log, maxLogLines, limit-len(conditions)-len(timeline))
	if timeline+conditions+log == "" {
		return ""
	}
	return foldBegin + timeline + conditions + log + foldEnd
}

// timeline lists the events, newest last.
func timeline(all []Moment, limit int) string {
	const head = "**Timeline**\n\n"
	limit -= len(head) + len("- … 1234567890123456789 earlier\n\n")
	var lines []string
	for i := len(all) - 1; i >= 0 && len(lines) < maxMoments; i-- {
		line := fmt.Sprintf("- %s %s", stamp(all[i].At), brief(all[i].What))
		if all[i].Why != "" {
			line += ": " + brief(all[i].Why)
		}
		if limit -= len(line) + 1; limit < 0 {
			break
		}
		lines = append(lines, line+"\n")
	}
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(head)
	if earlier := len(all) - len(lines); earlier > 0 {
		fmt.Fprintf(&b, "- … %d earlier\n", earlier)
	}
	for i := len(lines) - 1; i >= 0; i-- {
		b.WriteString(lines[i])
	}
	return b.String() + "\n"
}

func conditions(all []Condition) string {
	var b strings.Builder
	for i, condition := range all {
		if i == 0 {
			b.WriteString("**Conditions**\n\n")
		}
		if i == maxConditions {
			fmt.Fprintf(&b, "- … %d more\n", len(all)-i)
			break
		}
		fmt.Fprintf(&b, "- **%s** %s", brief(condition.Type), brief(condition.Status))
		if condition.Reason != "" {
			fmt.Fprintf(&b, " (%s)", brief(condition.Reason))
		}
		if condition.Message != "" {
			b.WriteString(": " + brief(condition.Message))
		}
		if !condition.At.IsZero() {
			fmt.Fprintf(&b, ", since %s", stamp(condition.At))
		}
		b.WriteString("\n")
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// tail renders the end of the log in a fence that nothing in it can close; it is cut from the front.
func tail(log []string, most, limit int) string {
	const head, cutting = "**The log's end**\n\n", "… earlier lines are on the cluster's page\n"
	longest := 0
	var lines []string
	for i := len(log) - 1; i >= 0 && len(lines) < most; i-- {
		line := logLine(log[i])
		longest = max(longest, ticks(line))
		if size(lines)+len(line)+1+len(head)+len(cutting)+2*max(3, longest+1)+len("text\n\n\n") > limit {
			break
		}
		lines = append(lines, line+"\n")
	}
	if len(lines) == 0 {
		return ""
	}
	slices.Reverse(lines)
	if len(lines) < len(log) {
		lines = append([]string{cutting}, lines...)
	}
	return head + fenceLines(lines) + "\n"
}

// fenceLines shows lines, each with its end, as they are. Nothing in them closes the fence.
func fenceLines(lines []string) string {
	longest := 0
	for _, line := range lines {
		longest = max(longest, ticks(line))
	}
	fence := strings.Repeat("`", max(3, longest+1))
	return fence + "text\n" + strings.Join(lines, "") + fence + "\n"
}

func size(lines []string) (n int) {
	for _, line := range lines {
		n += len(line)
	}
	return n
}

// ticks returns the longest run of backticks in a line.
func ticks(line string) (longest int) {
	run := 0
	for i := range len(line) {
		if line[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// logLine keeps a log line as it is, except for what a terminal or GitHub would interpret.
func logLine(line string) string {
	line = strings.ToValidUTF8(cutBytes(line, 10*maxLogLine), "\uFFFD")
	line = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029':
			return -1
		}
		return r
	}, colours.ReplaceAllString(line, ""))
	return strings.TrimRightFunc(cut(breakMarkers(line), maxLogLine), unicode.IsSpace)
}

// colours matches terminal escape sequences.
var colours = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

// brief makes foreign text short and harmless for the fold.
func brief(text string) string {
	return plain(cut(oneLine(cutBytes(text, 10*maxFoldText)), maxFoldText))
}

// stamp formats a time with seconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }
