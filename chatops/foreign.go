package chatops

import (
	"regexp"
	"strings"
)

// GitHub turns URLs, and what looks like an issue or a commit, into links, and notifies people for @. It does so even after rendering
// Markdown, so escaping alone does not protect strangers' text. It does none of it in code.

// clickable matches what GitHub would turn into a link. Such a word is rendered as code: complete, so that it can be copied, and
// inert.
var clickable = regexp.MustCompile(`(?i)(?:https?|ftp|mailto|xmpp):|www\.|#[0-9]|\bGH-[0-9]|(?:^|[^\w])[0-9a-f]{7,}(?:[^\w]|$)|\bGHSA-|\bCVE-[0-9]`)

// marks are punctuation that may surround a word without belonging to it.
const marks = ".,;:!?\"'()[]{}…"

// inert renders a word from a stranger so that nothing in it can be clicked. escape renders what does not become code.
func inert(word string, escape func(string) string) string {
	if !clickable.MatchString(word) {
		return escape(word)
	}
	core := strings.Trim(word, marks)
	before, after, _ := strings.Cut(word, core)
	if core == "" || strings.ContainsAny(core, "`|") { // it would end the code early, or a table's cell
		return escape(breakLinks(word))
	}
	return escape(breakLinks(before)) + "`" + core + "`" + escape(breakLinks(after))
}

// breaks are the positions where an invisible space makes a link inert.
var breaks = []struct {
	form *regexp.Regexp
	into string
}{
	{regexp.MustCompile(`(?i)(https?|ftp|mailto|xmpp):`), "$1\u200b:"},
	{regexp.MustCompile(`(?i)(www)\.`), "$1\u200b."},
	{regexp.MustCompile(`#([0-9])`), "#\u200b$1"},
	{regexp.MustCompile(`(?i)(GH|GHSA|CVE)-`), "$1\u200b-"},
	{regexp.MustCompile(`(?i)([0-9a-f]{6})`), "$1\u200b"}, // GitHub recognises commits from seven digits
}

// breakLinks keeps a word readable and ensures that nothing in it can be clicked.
func breakLinks(word string) string {
	if !clickable.MatchString(word) {
		return word
	}
	for _, at := range breaks {
		word = at.form.ReplaceAllString(word, at.into)
	}
	return word
}

// mapWords applies write to each word of a line, and keeps what is between them.
func mapWords(line string, write func(word string) string) string {
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
