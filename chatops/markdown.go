package chatops

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"
)

const (
	maxBody    = 60_000 // GitHub accepts 65,536 characters; the client adds its marker
	maxPlain   = 600
	maxAddress = 1_000
	maxRead    = 16_000 // bytes of one text that are processed
	maxCode    = 120
)

var (
	login  = regexp.MustCompile(`^[A-Za-z0-9](?:[-_A-Za-z0-9]{0,38})$`)                               // accounts of an enterprise end with _ and its short code
	teamOf = regexp.MustCompile(`^[A-Za-z0-9](?:[-A-Za-z0-9]{0,38})/[A-Za-z0-9][-_A-Za-z0-9]{0,99}$`) // organization/slug
	anchor = regexp.MustCompile(`^[A-Za-z0-9]{1,60}$`)                                                // a reason that can be a link's fragment
)

// plain makes untrusted text harmless in Markdown: one line, no markup, no mention, no link, limited length.
func plain(text string) string {
	return mapWords(cut(breakMarkers(oneLine(cutBytes(text, maxRead))), maxPlain), func(word string) string { return inert(word, escapeWord) })
}

// escapeWord writes a word without markup.
func escapeWord(word string) string {
	var b strings.Builder
	for _, r := range word {
		switch r {
		case '\\', '`', '*', '[', ']', '<', '>', '|', '&', '~': // GitHub decodes entities before it looks for mentions
			b.WriteRune('\\')
			b.WriteRune(r)
		case '@':
			b.WriteString("@\u200b") // GitHub finds mentions after rendering, so escaping alone would still notify people
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Code formats a word as code. Backticks cannot end it early, and nobody is mentioned inside.
func Code(text string) string {
	text = cut(breakMarkers(strings.ReplaceAll(oneLine(cutBytes(text, maxRead)), "`", "'")), maxCode)
	if text == "" {
		text = " "
	}
	return "`" + text + "`"
}

// breakMarkers breaks up the beginning of a hidden marker: the client finds its comments by their markers, so foreign text must not
// contain one.
func breakMarkers(text string) string { return strings.ReplaceAll(text, "<!--", "<! --") }

// cutBytes limits the work on untrusted text.
func cutBytes(text string, most int) string { return text[:min(len(text), most)] }

func oneLine(text string) string {
	fields := strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	})
	return strings.Join(fields, " ")
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// link makes an address clickable; anything except a plain web address stays text, without any password.
func link(address string) string {
	if web(address) {
		return "<" + address + ">"
	}
	u, err := url.Parse(address)
	if err != nil {
		return Code("an invalid address")
	}
	return Code(u.Redacted())
}

// web reports that it is a plain web address without a password, short enough to be shown.
func web(address string) bool {
	u, err := url.Parse(address)
	return err == nil && len(address) <= maxAddress && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil && !strings.ContainsAny(address, "<> \t\n`|")
}

// mention mentions a person; anything that is not a login stays text.
func mention(actor string) string {
	actor = strings.TrimPrefix(actor, "github:")
	if login.MatchString(actor) {
		return "@" + actor
	}
	return plain(actor)
}

// fit cuts a body to GitHub's limit, at a line's end.
func fit(body string) string { return fitInto(body, maxBody) }

// fitInto cuts a body to at most so many bytes, at a line's end.
func fitInto(body string, most int) string {
	if len(body) <= most {
		return body
	}
	body = body[:most]
	if end := strings.LastIndexByte(body, '\n'); end > 0 {
		body = body[:end]
	}
	return body + "\n\n… The rest is too long for a comment.\n"
}

// bar draws a percentage as twenty characters.
func bar(percent int) string {
	percent = min(max(percent, 0), 100)
	return fmt.Sprintf("`[%s%s] %d %%`", strings.Repeat("█", percent/5), strings.Repeat("░", 20-percent/5), percent)
}

// moment formats a time. Clusters that live less than an hour (in a demo) need the seconds.
func moment(t time.Time, life time.Duration) string {
	if t.IsZero() {
		return "a time not known yet"
	}
	if life > 0 && life < time.Hour {
		return t.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// precise formats a time, with seconds unless they are zero.
func precise(t time.Time) string { return t.UTC().Format("2006-01-02 ") + clock(t) + " UTC" }

// day formats a time for a sentence, with seconds unless they are zero.
func day(t time.Time) string {
	if t.IsZero() {
		return "a time not known yet"
	}
	return t.UTC().Format("Monday 2 January 2006") + " at " + clock(t) + " UTC"
}

// clock formats only the time of day, with seconds unless they are zero.
func clock(t time.Time) string {
	if t.Second() == 0 {
		return t.UTC().Format("15:04")
	}
	return t.UTC().Format("15:04:05")
}

// sentence makes the text start with a capital and end with a full stop.
func sentence(text string) string {
	runes := []rune(strings.TrimSpace(cutBytes(text, maxRead)))
	if len(runes) == 0 {
		return ""
	}
	runes[0] = unicode.ToUpper(runes[0])
	if !strings.ContainsRune(".!?…", runes[len(runes)-1]) {
		runes = append(runes, '.')
	}
	return string(runes)
}

// Time formats a time for people, always with seconds.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
