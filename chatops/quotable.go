package chatops

import (
	"bytes"
	"regexp"
	"strings"
)

// Quotable returns the body of a comment such that a copy of it without any marks contains no command: mail programs put what they
// answer below a reply as plain text, often without quote marks, and break long lines. No line of such a copy begins with Prefix:
// a command is code that is bound to the word before it, and what others wrote outside our code has an invisible space inside.
func Quotable(body string) string {
	if !strings.Contains(strings.ToLower(body), Prefix) {
		return body
	}
	var b bytes.Buffer
	fence := ""
	for line := range strings.Lines(body) {
		text := strings.TrimLeft(strings.TrimRight(line, "\n"), " \t")
		switch {
		case fence != "" && closes(text, fence):
			fence = ""
			b.WriteString(line)
		case fence != "":
			b.WriteString(disarmCommands(line))
		default:
			fence = opens(text)
			quotableLine(&b, line)
		}
	}
	return b.String()
}

// command matches where a line would be a command if it began there.
var command = regexp.MustCompile(`(?i)(?:^|[^\pL\pN/._-])(/)ocp(?:[^\pL\pN]|$)`)

// disarmCommands puts an invisible space into each command in a line of a fence.
func disarmCommands(text string) string {
	var b strings.Builder
	for at := command.FindStringSubmatchIndex(text); at != nil; at = command.FindStringSubmatchIndex(text) {
		b.WriteString(text[:at[2]] + "/\u200b")
		text = text[at[3]:]
	}
	return b.String() + text
}

// quotableText writes what is not code. Each command is bound to the word before it; one that begins a line is no longer one.
func quotableText(b *bytes.Buffer, begin int, text string) {
	for at := command.FindStringSubmatchIndex(text); at != nil; at = command.FindStringSubmatchIndex(text) {
		b.WriteString(text[:at[2]])
		if before := string(b.Bytes()[begin:]); startsText(before) {
			b.WriteString("/\u200b")
		} else {
			bindToWord(b, before)
			b.WriteString("/")
		}
		text = text[at[3]:]
	}
	b.WriteString(text)
}

// bindToWord replaces the space at the end of what was written of a line, so that no line is broken there. The marks that make the next word
// bold, or a link, may follow it.
func bindToWord(b *bytes.Buffer, before string) {
	run := leading.FindString(before)
	if marks := space.ReplaceAllString(run, ""); marks != run {
		b.Truncate(b.Len() - len(run))
		b.WriteString("\u00a0" + marks)
	}
}

// quotableLine writes a line outside a fence.
func quotableLine(b *bytes.Buffer, line string) {
	begin := b.Len()
	for line != "" {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			at = len(line)
		}
		quotableText(b, begin, line[:at])
		if line = line[at:]; line == "" {
			return
		}
		run := len(line) - len(strings.TrimLeft(line, "`"))
		end := closing(line[run:], run)
		if text := b.Bytes(); end == 0 || (len(text)-len(bytes.TrimRight(text, "\\")))%2 == 1 { // there is no code, or the mark is escaped
			b.WriteString(line[:run])
			line = line[run:]
			continue
		}
		quotableCode(b, b.String()[begin:], line[:run+end])
		line = line[run+end:]
	}
}

// quotableCode writes code that stands behind a text in its line.
func quotableCode(b *bytes.Buffer, before, code string) {
	mark := len(code) - len(strings.TrimLeft(code, "`"))
	inner := strings.TrimLeft(code[mark:], " ")
	begins := command.FindStringIndex(inner)
	if begins == nil {
		b.WriteString(code)
		return
	}
	if begins[0] > 0 || inner[0] != '/' {
		b.WriteString(code[:mark])
		quotableText(b, b.Len()-1, code[mark:])
		return
	}
	if startsText(before) {
		b.WriteString("→\u00a0")
	} else {
		bindToWord(b, before)
	}
	b.WriteString(code[:mark] + "/")
	quotableText(b, b.Len()-1, inner[1:])
}

// space matches a space, or a character that is written as HTML does, which may be one.
var space = regexp.MustCompile(spaces)

const spaces = `[\s\p{Z}\p{Cf}]|&#?[0-9A-Za-z]+;`

// leading matches the spaces between a word and a command, with marks of Markdown that may stand there.
var leading = regexp.MustCompile(`(?:[*_~\[\\]|` + spaces + `)+$`)

// startsText reports whether what follows may begin a line once the markup is gone: it begins a line or a cell of a table, or follows a tag.
func startsText(before string) bool {
	if at := strings.LastIndexAny(before, "|>"); at >= 0 {
		before = before[at+1:]
	}
	return markers.MatchString(before)
}

// markers matches what begins a line besides words: marks of lists and headings, numbers and spaces.
var markers = regexp.MustCompile(`^(?:[*_~\[\\+\-#.):\d]|` + spaces + `)*$`)
