package chatops

import (
	"strings"
	"unicode"
)

// Said makes an application service's answer safe to post. The text is ours, with code and bold, but may contain what others wrote
// elsewhere: a reason, a name. It mentions nobody except the person who is answered, and contains no HTML, link, reference or entity
// from others.
func Said(text, actor string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return -1
		}
		return r
	}, breakMarkers(strings.ToValidUTF8(text, "\uFFFD")))
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		quoteLine(&b, line, actor)
	}
	return fit(b.String())
}

// quoteLine keeps code that begins and ends in the line, as CommonMark finds it: nothing in it is interpreted. A run of backticks
// without a matching one is text.
func quoteLine(b *strings.Builder, line, actor string) {
	for line != "" {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			at = len(line)
		}
		quoteText(b, line[:at], actor)
		if line = line[at:]; line == "" {
			return
		}
		run := len(line) - len(strings.TrimLeft(line, "`"))
		if end := closing(line[run:], run); end > 0 {
			b.WriteString(line[:run+end])
			line = line[run+end:]
			continue
		}
		b.WriteString(strings.Repeat("\\`", run))
		line = line[run:]
	}
}

// closing returns where a run of exactly so many backticks ends; 0: there is none.
func closing(text string, run int) int {
	for at := 0; at < len(text); {
		if text[at] != '`' {
			at++
			continue
		}
		n := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if at += n; n == run {
			return at
		}
	}
	return 0
}

// quoteText writes what is not code. It cannot know which words are ours, so none may become a link. They do not become code, because
// next to our code that would change the meaning.
func quoteText(b *strings.Builder, text, actor string) {
	b.WriteString(mapWords(text, func(word string) string { return quoteWord(breakLinks(word), actor) }))
}

func quoteWord(word, actor string) string {
	var b strings.Builder
	for i, r := range word {
		switch r {
		case '\\', '<', '[', '&', '`', '~':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '@':
			b.WriteRune(r)
			if !calls(word[i+1:], actor) {
				b.WriteRune('\u200b')
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// calls reports that a text begins with exactly that login.
func calls(text, actor string) bool {
	rest, ok := strings.CutPrefix(text, actor)
	return ok && login.MatchString(actor) && (rest == "" || !strings.ContainsRune("-_/", rune(rest[0])) && !unicode.IsLetter(rune(rest[0])) && !unicode.IsDigit(rune(rest[0])))
}
