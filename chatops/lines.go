package chatops

import (
	"iter"
	"regexp"
	"slices"
	"strings"
)

// spokenLine is a line of a comment that its author says, as GitHub shows it.
type spokenLine struct {
	text  string
	first bool // nothing stands above it
	mail  bool // it stands below the header of a mail
	meant bool // it does, and yet it seems to be the author's: below what the mail program marked as quoted, or in a mail without another text
}

// authorLines returns the lines of a comment that its author says. Text in code, quotes, lists, HTML, folds and
// hidden comments is left out, because readers do not take it as a command. Where CommonMark is ambiguous, it uses the stricter
// reading. It takes time proportional to the comment's length, because anybody may write 64 KB: goldmark, with which the tests compare
// it, takes up to 22 s for that (alternating emphasis marks).
func authorLines(body string) iter.Seq[spokenLine] {
	return func(yield func(spokenLine) bool) {
		var r reader
		var m mail
		above, own := false, false // whether there was a line, and one that the author wrote above a mail's header
		for line := range strings.Lines(strings.ReplaceAll(body, "\r\n", "\n")) {
			for part := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), "\r") { // a lone CR ends a line too
				below := m.below
				if r.fence == "" && r.until == nil { // what looks like a mail inside code is code
					below = m.read(part)
				}
				text, shown := r.read(part)
				if shown && !yield(spokenLine{text: text, first: !above, mail: below, meant: below && (m.quotes || !own)}) {
					return
				}
				if strings.TrimFunc(part, blank) != "" {
					above, own = true, own || !below && !m.field
				}
			}
		}
	}
}

// reader is the state of the comment's block structure at the next line.
type reader struct {
	fence string   // the marks of the open code fence; empty: none
	until []string // the end marks of an HTML block that may contain empty lines; nil: none is open
	html  bool     // an HTML block that ends with an empty line
	folds int      // how many <details> and <blockquote> are open
	para  bool     // a paragraph is open
	aside string   // the end mark of a hidden comment or code span that the paragraph opened; empty: none

	inner *reader // the open list item or quote; nil: none
	item  int     // column where the text of the list item begins; 0: it is a quote
	void  bool    // the list item has no text yet
	depth int
}

// deepest is how many nested lists and quotes are tracked. Anything deeper is never a command.
const deepest = 8

// read processes the next line, and returns it without its margin if its author says it.
func (r *reader) read(line string) (text string, said bool) {
	text = strings.TrimLeft(line, " \t")
	indent := columns(line[:len(line)-len(text)], 0)
	if r.within(text, indent) {
		return "", false
	}
	switch {
	case r.until != nil:
		r.end(line)
		return "", false
	case r.fence != "":
		if indent < 4 && closes(text, r.fence) {
			r.fence = ""
		}
		return "", false
	case text == "":
		r.html, r.aside, r.para = false, "", false
		return "", false
	case r.html:
		r.fold(line)
		return "", false
	}
	lazy := r.inner != nil && r.inner.open() // the inner paragraph goes on, unless another block begins
	if indent >= 4 && (lazy || r.para) {
		return "", false
	}
	if !lazy {
		r.inner = nil
	}
	if indent >= 4 || r.block(text, indent) {
		return "", false
	}
	r.para = !lazy
	return text, r.paragraph(text)
}

// within passes a line to the open list item or quote, if it belongs there.
func (r *reader) within(text string, indent int) bool {
	switch {
	case r.inner == nil:
		return false
	case text == "" && (r.item == 0 || r.void):
		r.inner = nil // an empty line ends a quote, and an item that began with one
	case r.item > 0 && text == "":
		r.inner.read("")
		return true
	case r.item > 0 && indent >= r.item:
		r.void = false
		r.inner.read(strings.Repeat(" ", indent-r.item) + text)
		return true
	case r.item == 0 && indent < 4 && strings.HasPrefix(text, ">"):
		r.inner.read(unquoteLine(text, indent))
		return true
	}
	return false
}

// unquoteLine returns the text after a quote mark and the one space that belongs to it.
func unquoteLine(text string, indent int) string {
	rest := strings.TrimLeft(text[1:], " \t")
	gap := columns(text[1:len(text)-len(rest)], indent+1)
	return strings.Repeat(" ", max(0, gap-1)) + rest
}

// open reports that a paragraph is open, here or inside.
func (r *reader) open() bool { return r.para || r.inner != nil && r.inner.open() }

// block processes a line that begins a block other than a paragraph; what was open before it ends.
func (r *reader) block(text string, indent int) bool {
	if strings.IndexByte(beginners, text[0]) < 0 {
		return false
	}
	was, goesOn := r.inner, r.open()
	r.inner = nil
	switch {
	case text[0] == '>' && r.depth < deepest:
		r.inner, r.item = &reader{depth: r.depth + 1}, 0
		r.inner.read(unquoteLine(text, indent))
	case opens(text) != "":
		r.fence = opens(text)
	case r.para && underline.MatchString(text), rule.MatchString(text), heading.MatchString(text), r.markup(text, goesOn), r.openListItem(text, indent):
	default:
		r.inner = was
		return false
	}
	r.aside, r.para = "", false
	return true
}

// beginners are the characters with which a block other than a paragraph can begin.
const beginners = ">`~*-_+=#<0123456789"

var (
	rule      = regexp.MustCompile(`^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
	heading   = regexp.MustCompile(`^#{1,6}(?:[ \t]|$)`)
	underline = regexp.MustCompile(`^(?:=+|-+)[ \t]*$`) // turns the paragraph before it into a heading
	bullet    = regexp.MustCompile(`^(?:[-+*]|([0-9]{1,9})[.)])([ \t]+|$)`)
)

// openListItem processes a line that opens a list item. Inside a paragraph only an item with text does, and of numbered items only number
// 1.
func (r *reader) openListItem(text string, indent int) bool {
	m := bullet.FindStringSubmatch(text)
	if m == nil || r.depth >= deepest {
		return false
	}
	vacant := len(m[0]) == len(text)
	if r.para && (vacant || m[1] != "" && strings.TrimLeft(m[1], "0") != "1") {
		return false
	}
	marker := indent + len(m[0]) - len(m[2])
	gap := columns(m[2], marker)
	code := 0
	if vacant {
		gap = 1
	} else if gap > 4 {
		code, gap = gap-1, 1
	}
	r.inner, r.item, r.void = &reader{depth: r.depth + 1}, marker+gap, vacant
	r.inner.read(strings.Repeat(" ", code) + text[len(m[0]):])
	return true
}

// columns returns the width of white space that begins at a column; a tab advances to the next multiple of four.
func columns(space string, at int) int {
	from := at
	for _, r := range space {
		if r == '\t' {
			at += 4 - at%4
		} else {
			at++
		}
	}
	return at - from
}

// The beginnings of HTML blocks, numbered as in CommonMark: 1 to 5 have their own end mark, 6 and 7 end with an empty line.
var (
	raw     = regexp.MustCompile(`(?i)^<(?:pre|script|style|textarea)(?:[ \t>]|$)`)
	decl    = regexp.MustCompile(`^<![A-Za-z]`)
	element = regexp.MustCompile(`(?i)^</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|` +
		`fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|` +
		`p|param|search|section|source|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?:[ \t]|/?>|$)`)
	alone    = regexp.MustCompile(`^</?[A-Za-z][A-Za-z0-9-]*(?:[ \t][^<>]*)?/?>[ \t]*$`)
	folding  = regexp.MustCompile(`(?i)<(/?)(?:details|blockquote)(?:[ \t/>]|$)`)
	rawEnds  = []string{"</pre>", "</script>", "</style>", "</textarea>"}
	htmlEnds = []struct {
		begins string
		ends   []string
	}{{"<!--", []string{"-->"}}, {"<?", []string{"?>"}}, {"<![CDATA[", []string{"]]>"}}}
)

// markup processes a line that begins an HTML block. A single element does not begin one if a paragraph goes on.
func (r *reader) markup(text string, goesOn bool) bool {
	if text[0] != '<' {
		return false
	}
	for _, h := range htmlEnds {
		if strings.HasPrefix(text, h.begins) {
			r.until = h.ends
		}
	}
	switch {
	case r.until != nil:
	case raw.MatchString(text):
		r.until = rawEnds
	case decl.MatchString(text):
		r.until = []string{">"}
	case element.MatchString(text), !goesOn && alone.MatchString(text):
		r.html = true
		r.fold(text)
		return true
	default:
		return false
	}
	r.end(text)
	return true
}

// end closes the HTML block if the line contains its end mark.
func (r *reader) end(line string) {
	line = strings.ToLower(line)
	if slices.ContainsFunc(r.until, func(end string) bool { return strings.Contains(line, strings.ToLower(end)) }) {
		r.until = nil
	}
}

// fold counts the folds that a line opens and closes.
func (r *reader) fold(line string) {
	for _, tag := range folding.FindAllStringSubmatch(line, -1) {
		if tag[1] == "" {
			r.folds++
		} else {
			r.folds = max(0, r.folds-1)
		}
	}
}

// paragraph processes a line of a paragraph, and reports whether people see it as it is.
func (r *reader) paragraph(text string) bool {
	if r.aside != "" {
		if strings.Contains(text, r.aside) {
			r.aside = ""
		}
		return false
	}
	if !strings.ContainsAny(text, "`<") {
		return r.folds == 0
	}
	bare := inline.ReplaceAllString(text, "")
	r.fold(bare) // markup inside code folds nothing
	if open := strings.LastIndex(bare, "<!--"); open >= 0 && !strings.Contains(bare[open:], "-->") {
		r.aside = "-->"
	} else if open := strings.IndexByte(bare, '`'); open >= 0 {
		r.aside = bare[open : len(bare)-len(strings.TrimLeft(bare[open:], "`"))] // GitHub shows it as code if the end mark follows
	}
	return r.folds == 0
}

// inline is a code span within one line.
var inline = regexp.MustCompile("`+[^`]+`+")

// opens returns the marks that open a code fence; empty if the line opens none.
func opens(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		run := line[:len(line)-len(rest)]
		if len(run) >= 3 && (mark == "~" || !strings.Contains(rest, "`")) {
			return run
		}
	}
	return ""
}

// closes reports whether the line closes a fence: the same mark, at least as long, and nothing after it.
func closes(line, fence string) bool {
	line = strings.TrimRight(line, " \t")
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}
