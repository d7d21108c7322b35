package chatops

import (
	"fmt"
	"strings"
	"unicode"
)

// word is one word of a line, without quotes.
type word struct {
	text  string
	typed string // with its quotes
	plain bool   // it begins with neither a quote nor a backslash, so it may be an option
}

// blank reports that a rune separates words: white space of any script, and zero-width characters.
func blank(r rune) bool {
	switch r {
	case '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u180e', '\u200e', '\u200f':
		return true
	}
	return unicode.IsSpace(r)
}

// quotes maps the marks that open quoted text to those that close it: phones and word processors make them curly.
var quotes = map[rune]string{'"': `"`, '\'': `'`, '“': `”“"`, '”': `”"`, '„': `“”"`, '‘': `’‘'`, '‚': `‘’'`, '«': `»`}

// splitter is a line and the position of the next rune.
type splitter struct {
	line []rune
	at   int
}

// split splits a line from a byte on, as a shell does: single quotes keep everything; in double quotes and bare words a backslash
// escapes. An apostrophe inside a word is one. problem says where a quote was opened and never closed.
func split(line string, from int) (words []word, problem string) {
	s := splitter{line: []rune(line), at: len([]rune(line[:from]))}
	for s.at < len(s.line) {
		if blank(s.line[s.at]) {
			s.at++
			continue
		}
		w, problem := s.word()
		if problem != "" {
			return nil, problem
		}
		if w.text != "" || !w.plain && s.line[s.at-1] != '\\' { // a backslash at the end of the line is Markdown's line break
			words = append(words, w)
		}
	}
	return words, ""
}

func (s *splitter) word() (w word, problem string) {
	var b strings.Builder
	begin := s.at
	w.plain = true
	for ; s.at < len(s.line) && !blank(s.line[s.at]); s.at++ {
		r := s.line[s.at]
		ends, quote := quotes[r]
		if quote && apostrophe(r) && s.at > begin && letter(s.line[s.at-1]) {
			quote = false
		}
		if s.at == begin {
			w.plain = !quote && r != '\\'
		}
		switch {
		case quote:
			if problem := s.readQuoted(&b, ends); problem != "" {
				return word{}, problem
			}
		case r == '\\' && s.at+1 < len(s.line):
			s.at++
			b.WriteRune(s.line[s.at])
		case r == '\\': // at the line's end
		default:
			b.WriteRune(r)
		}
	}
	w.text, w.typed = b.String(), string(s.line[begin:s.at])
	return w, ""
}

// readQuoted reads from an opening quote to its end, and stays on the end.
func (s *splitter) readQuoted(b *strings.Builder, ends string) (problem string) {
	open := s.at
	raw := apostrophe(s.line[open])
	for s.at++; s.at < len(s.line); s.at++ {
		r := s.line[s.at]
		switch {
		case strings.ContainsRune(ends, r) && !(raw && s.within(open)):
			return ""
		case r == '\\' && !raw && s.at+1 < len(s.line) && (s.line[s.at+1] == '\\' || strings.ContainsRune(ends+"\"$`", s.line[s.at+1])):
			s.at++
			b.WriteRune(s.line[s.at])
		default:
			b.WriteRune(r)
		}
	}
	return fmt.Sprintf("The quote that starts at character %d is not closed: %s. Close it, or write %s for a literal quote.",
		open+1, Code(cut(string(s.line[open:]), 30)), Code("\\"+string(s.line[open])))
}

// within reports that the curly apostrophe is inside a word, as in ‘don’t’.
func (s *splitter) within(open int) bool {
	return s.line[open] != '\'' && s.at > open+1 && s.at+1 < len(s.line) && letter(s.line[s.at-1]) && letter(s.line[s.at+1])
}

func apostrophe(r rune) bool { return strings.ContainsRune("'‘’‚", r) }

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
