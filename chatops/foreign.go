package chatops

import (
	"regexp"
	"strings"
)

// GitHub makes links of addresses, and of what looks like an issue or a commit, and calls people by @. It does that after the
// Markdown was rendered too, so escaping alone does not keep words of strangers from it. In code it does none of it.

// clickable is what GitHub would make a link of. Such a word stands as code: whole, so that it can be copied, and inert.
var clickable = regexp.MustCompile(`(?i)(?:https?|ftp|mailto|xmpp):|www\.|#[0-9]|\bGH-[0-9]|(?:^|[^\w])[0-9a-f]{7,}(?:[^\w]|$)|\bGHSA-|\bCVE-[0-9]`)

// marks may stand around a word without being of it.
const marks = ".,;:!?\"'()[]{}…"

// inert writes one word of a stranger's so that nothing in it can be clicked. escape writes what is no code.
func inert(word string, escape func(string) string) string {
	if !clickable.MatchString(word) {
		return escape(word)
	}
	core := strings.Trim(word, marks)
	before, after, _ := strings.Cut(word, core)
	if core == "" || strings.ContainsAny(core, "`|") { // code would end early, or a table's cell
		return escape(broken(word))
	}
	return escape(broken(before)) + "`" + core + "`" + escape(broken(after))
}

// breaks are where what can be clicked falls apart, by a space that nobody sees.
var breaks = []struct {
	form *regexp.Regexp
	into string
}{
	{regexp.MustCompile(`(?i)(https?|ftp|mailto|xmpp):`), "$1\u200b:"},
	{regexp.MustCompile(`(?i)(www)\.`), "$1\u200b."},
	{regexp.MustCompile(`#([0-9])`), "#\u200b$1"},
	{regexp.MustCompile(`(?i)(GH|GHSA|CVE)-`), "$1\u200b-"},
	{regexp.MustCompile(`(?i)([0-9a-f]{6})`), "$1\u200b"}, // a commit has seven digits at least
}

// broken keeps a word readable and makes sure that nothing in it can be clicked.
func broken(word string) string {
	if !clickable.MatchString(word) {
		return word
	}
	for _, at := range breaks {
		word = at.form.ReplaceAllString(word, at.into)
	}
	return word
}

// words gives each word of a line to write, and keeps what is between them.
func words(line string, write func(word string) string) string {
	var b strings.Builder
	for line != "" {
		end := strings.IndexByte(line, ' ')
		if end < 0 {
			end = len(line)
		}
		if end > 0 {
			b.WriteString(write(line[:end]))
		}
		if line = line[end:]; line != "" {
			b.WriteByte(' ')
			line = line[1:]
		}
	}
	return b.String()
}
