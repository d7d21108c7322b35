// Package replymail writes what GitHub posts when somebody answers a notification by mail: the text, and below it what the mail program
// adds. It serves the stand-in of GitHub and tests.
//
// GitHub removes part of what mail programs add, and hides the addresses in it:
// https://docs.github.com/subscriptions-and-notifications/get-started/configuring-notifications#replying-to-email-notifications,
// https://github.com/dependabot/feedback/issues/277
package replymail

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	rendering "github.com/yuin/goldmark/renderer/html"
)

// Program is a mail program.
type Program struct {
	Name   string
	header string // between the text and what it answers; %s is who wrote that
	marks  bool   // it puts > before what it quotes
	html   bool   // it answers the mail's HTML, of which GitHub gets the text
	wraps  int    // it breaks lines behind so many characters; 0: it does not
}

// Programs are mail programs and what they add.
var Programs = []Program{
	{Name: "Gmail", header: "On Mon, Mar 3, 2025 at 10:12 AM %s ***@***.***>\nwrote:", marks: true, wraps: 72},
	{Name: "Outlook", header: "________________________________\nFrom: %s ***@***.***>\nSent: Monday, March 3, 2025 10:12 AM\nTo: acme/shop ***@***.***>\nSubject: Re: [acme/shop] Add a cart (PR #41)", html: true},
	{Name: "Outlook in German", header: "Von: %s ***@***.***>\nGesendet: Montag, 3. März 2025 10:12\nAn: acme/shop ***@***.***>\nBetreff: Re: [acme/shop] Add a cart (PR #41)", html: true, wraps: 76},
	{Name: "iPhone", header: "Sent from my iPhone\n\nOn 3 Mar 2025, at 10:12, %s ***@***.***> wrote:", html: true},
	{Name: "Thunderbird in French", header: "Le 03/03/2025 à 10:12, %s a écrit :", marks: true, wraps: 72},
	{Name: "Zoho", header: "---- On Mon, 03 Mar 2025 10:12:00 +0100 %s ***@***.***> wrote ----", html: true},
	{Name: "Notes", header: "-----Original Message-----\n%s", html: true, wraps: 60},
	{Name: "no header", html: true, wraps: 64},
}

// Reply returns the comment that GitHub makes of an answer to a comment, written with the program.
func (p Program) Reply(text, answered, author string) string {
	copied := plainPart(answered)
	if p.html {
		copied = fromHTML(answered)
	}
	copied = wrapText(fmt.Sprintf("%s left a comment (acme/shop#41)\n\n%s\n\n—\nReply to this email directly, view it on GitHub, or unsubscribe.\n"+
		"You are receiving this because you were mentioned.\nMessage ID: ***@***.***>", author, copied), p.wraps)
	if p.header == "" { // nothing tells where the copy begins
		_, copied, _ = strings.Cut(copied, "\n\n")
	}
	if p.marks {
		copied = "> " + strings.ReplaceAll(copied, "\n", "\n> ")
	}
	header := p.header
	if strings.Contains(header, "%s") {
		header = fmt.Sprintf(header, author)
	}
	return strings.TrimSpace(text + "\n\n" + header + "\n\n" + copied)
}

// Copies returns copies of a comment without any marks, as mail programs make them: of its source and of its HTML, with lines of several
// lengths.
func Copies(comment string) (copies []string) {
	for _, text := range []string{plainPart(comment), fromHTML(comment)} {
		for _, width := range []int{0, 78, 72, 60, 40, 25, 10} {
			copies = append(copies, wrapText(text, width))
		}
	}
	return copies
}

var (
	hidden   = regexp.MustCompile(`(?s)<!--.*?-->`)
	newLine  = regexp.MustCompile(`(?i)</?(?:p|div|li|ul|ol|tr|td|th|table|h[1-6]|blockquote|pre|br|hr|details|summary)\b[^>]*>`)
	anyTag   = regexp.MustCompile(`(?s)<[^>]*>`)
	manyEnds = regexp.MustCompile(`\n[ \t]*(?:\n[ \t]*)+`)
)

// plainPart returns the text part of a notification: the comment's source.
func plainPart(comment string) string { return strings.TrimSpace(hidden.ReplaceAllString(comment, "")) }

var github = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(rendering.WithUnsafe()))

// fromHTML returns what is left of a notification's HTML without its tags.
func fromHTML(comment string) string {
	var page bytes.Buffer
	if err := github.Convert([]byte(comment), &page); err != nil {
		return plainPart(comment)
	}
	text := newLine.ReplaceAllString(hidden.ReplaceAllString(page.String(), ""), "\n")
	text = html.UnescapeString(anyTag.ReplaceAllString(text, ""))
	return strings.TrimSpace(manyEnds.ReplaceAllString(text, "\n\n"))
}

// wrapText breaks lines at spaces, but not at those that no line may be broken at.
func wrapText(text string, width int) string {
	if width == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		at := 0
		for word := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), " ") {
			switch {
			case at > 0 && at+1+len([]rune(word)) > width:
				b.WriteString("\n")
				at = 0
			case at > 0:
				b.WriteString(" ")
				at++
			}
			b.WriteString(word)
			at += len([]rune(word))
		}
		if strings.HasSuffix(line, "\n") {
			b.WriteString("\n")
		}
	}
	return b.String()
}
