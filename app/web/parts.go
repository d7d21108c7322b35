package web

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"regexp"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/duration"
)

// part is a piece of a page that the browser replaces as a whole. A part inside of it is empty there, and is sent by itself.
type part struct {
	id, html string
	hash     string // of both
}

// Marks in rendered pages. html/template removes comments from its templates and escapes what is put into them, so that no text of a
// person contains one.
const markBegin, markEnd = "<!--part:", "-->"

// beginPart marks where the content of the element with this id begins; endPart marks where it ends.
func beginPart(id string) template.HTML {
	return template.HTML(markBegin + template.HTMLEscapeString(id) + markEnd)
}

func endPart() template.HTML { return markBegin + markEnd }

// splitParts returns a page without its marks, and its parts, outer ones before those inside of them.
func splitParts(marked string) (page string, parts []part) {
	var all strings.Builder
	var texts []*strings.Builder // of the parts
	var open []int               // the parts that are open, the innermost last
	for {
		text, rest, found := strings.Cut(marked, markBegin)
		all.WriteString(text)
		if len(open) > 0 {
			texts[open[len(open)-1]].WriteString(text)
		}
		if !found {
			break
		}
		var id string
		if id, marked, _ = strings.Cut(rest, markEnd); id == "" {
			open = open[:len(open)-1]
			continue
		}
		open = append(open, len(parts))
		parts, texts = append(parts, part{id: id}), append(texts, &strings.Builder{})
	}
	for i, p := range parts {
		parts[i] = newPart(p.id, texts[i].String())
	}
	return all.String(), parts
}

// passing matches a time that is told by its distance from now. It changes all the time, so the browser writes it anew, and a part in
// which nothing else changed is not sent.
var passing = regexp.MustCompile(`(<time data-away [^>]*>)[^<]*`)

func formatAway(now, t time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	return template.HTML(`<time data-away datetime="` + t.UTC().Format(time.RFC3339) + `">` + duration.Away(t, now) + `</time>`)
}

// hashLength is how many characters the hash of a part takes.
const hashLength = 8

func newPart(id, html string) part {
	sum := sha256.Sum256([]byte(id + "\n" + passing.ReplaceAllString(html, "$1")))
	return part{id: id, html: html, hash: base64.RawURLEncoding.EncodeToString(sum[:])[:hashLength]}
}

// hashesOf returns the hashes of all parts as one text. A browser returns it, so no server has to remember what was sent.
func hashesOf(parts []part) string {
	var out strings.Builder
	for _, p := range parts {
		out.WriteString(p.hash)
	}
	return out.String()
}

// missingParts returns the parts that a browser does not have, as far as its hashes tell.
func missingParts(parts []part, hashes string) (missing []part) {
	has := map[string]bool{}
	for ; len(hashes) >= hashLength; hashes = hashes[hashLength:] {
		has[hashes[:hashLength]] = true
	}
	for _, p := range parts {
		if !has[p.hash] {
			missing = append(missing, p)
		}
	}
	return missing
}
