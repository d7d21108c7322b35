// Package rendered shows tests what GitHub makes of a comment: every link, mention and reference that a reader could click, or that
// notifies people. It renders Markdown as GitHub does (CommonMark with GFM's autolinks and tables), and then looks for mentions,
// issues and commits in the text, which GitHub also does after rendering. In doubt it finds more.
package rendered

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
)

// Own is what the bot itself may put into a comment.
type Own struct {
	Links    []string // URLs, or their prefixes
	Mentions []string // logins
}

// markdown keeps raw HTML, so that Calls sees it.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(goldmarkhtml.WithUnsafe()))

// tags are the elements that Markdown is rendered to, and the bot's own.
var tags = []string{
	"a", "p", "br", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "strong", "em", "del", "code", "pre", "blockquote", "hr",
	"table", "thead", "tbody", "tr", "th", "td", "input", "details", "summary",
}

// calls are the patterns that GitHub finds in text outside code and links. https://docs.github.com/get-started/writing-on-github
var calls = map[string]*regexp.Regexp{
	"a mention":   regexp.MustCompile(`(?:^|[^\w])@([A-Za-z0-9][-\w/]*)`),
	"an issue":    regexp.MustCompile(`(?i)(?:[\w.-]+/[\w.-]+|[\w.-]+|^|[^\w&])#\d+|\bGH-\d+`),
	"a commit":    regexp.MustCompile(`(?i)(?:^|[^\w])[0-9a-f]{7,40}(?:[^\w]|$)`),
	"an address":  regexp.MustCompile(`(?i)\b(?:https?|ftp|mailto|xmpp):\S+|\bwww\.\S+|[\w.+-]+@[\w-]+\.\w`),
	"an advisory": regexp.MustCompile(`(?i)\bGHSA(?:-\w{4}){3}|\bCVE-\d{4}-\d{4,}`),
}

// token is a tag or the text between two tags.
var token = regexp.MustCompile(`(?s)<!--.*?-->|<(/?)([A-Za-z][\w-]*)((?:\s[^>]*)?)>|[^<]+|<`)

var href = regexp.MustCompile(`href="([^"]*)"`)

// Calls lists the links, mentions, references and HTML of a comment that are not the bot's own, without duplicates.
func Calls(body string, own Own) []string {
	var out bytes.Buffer
	if err := markdown.Convert([]byte(body), &out); err != nil {
		return []string{err.Error()}
	}
	r := reading{own: own}
	for _, m := range token.FindAllStringSubmatch(out.String(), -1) {
		r.read(m[0], m[1] == "/", strings.ToLower(m[2]), m[3])
	}
	r.said()
	slices.Sort(r.found)
	return slices.Compact(r.found)
}

type reading struct {
	own   Own
	code  int // depth of elements whose content is not checked
	link  int
	text  strings.Builder
	found []string
}

func (r *reading) read(raw string, ends bool, tag, attributes string) {
	if tag == "" {
		switch {
		case strings.HasPrefix(raw, "<!--"):
			r.found = append(r.found, "a hidden mark: "+raw)
		case r.code == 0 && r.link == 0:
			r.text.WriteString(html.UnescapeString(raw))
		}
		return
	}
	if !slices.Contains(tags, tag) {
		r.found = append(r.found, "HTML: "+raw)
		return
	}
	step := 1
	if ends {
		step = -1
	}
	switch tag {
	case "code", "pre":
		r.code += step
		r.text.WriteString("\x00") // code separates words
	case "a":
		r.link += step
		if at := href.FindStringSubmatch(attributes); at != nil {
			r.leads(html.UnescapeString(at[1]))
		}
	case "strong", "em", "del": // words continue
	default:
		r.said()
	}
}

// leads checks the target of a link.
func (r *reading) leads(to string) {
	if !slices.ContainsFunc(r.own.Links, func(own string) bool { return own != "" && strings.HasPrefix(to, own) }) {
		r.found = append(r.found, "a link: "+to)
	}
}

// said checks the text of one block.
func (r *reading) said() {
	text := r.text.String()
	r.text.Reset()
	for what, form := range calls {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			if what == "a mention" && slices.Contains(r.own.Mentions, m[1]) {
				continue
			}
			r.found = append(r.found, fmt.Sprintf("%s: %q", what, m[0]))
		}
	}
}
