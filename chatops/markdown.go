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
	maxBody    = 60_000 // GitHub takes 65,536 characters; the wire adds its marker
	maxPlain   = 600
	maxAddress = 1_000
	maxRead    = 16_000 // bytes of one text that are looked at
	maxCode    = 120
)

var (
	login  = regexp.MustCompile(`^[A-Za-z0-9](?:[-_A-Za-z0-9]{0,38})$`)                               // an enterprise's own accounts end with _ and its short code
	teamOf = regexp.MustCompile(`^[A-Za-z0-9](?:[-A-Za-z0-9]{0,38})/[A-Za-z0-9][-_A-Za-z0-9]{0,99}$`) // organization/slug
	anchor = regexp.MustCompile(`^[A-Za-z0-9]{1,60}$`)                                                // a reason that can stand behind a link's #
)

// plain makes text of unknown origin harmless in Markdown: one line, no markup, no mention, no link, no endless length.
func plain(text string) string {
	return words(cut(unmarked(oneLine(cutBytes(text, maxRead))), maxPlain), func(word string) string { return inert(word, escaped) })
}

// escaped writes a word without any markup in it.
func escaped(word string) string {
	var b strings.Builder
	for _, r := range word {
		switch r {
		case '\\', '`', '*', '[', ']', '<', '>', '|', '&', '~': // an entity would be the sign it stands for before mentions are looked for
			b.WriteRune('\\')
			b.WriteRune(r)
		case '@':
			b.WriteString("@\u200b") // GitHub finds mentions after rendering, so escaping alone would still call people
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Code writes a word as code. Backticks cannot end it early, and nobody is mentioned inside.
func Code(text string) string {
	text = cut(unmarked(strings.ReplaceAll(oneLine(cutBytes(text, maxRead)), "`", "'")), maxCode)
	if text == "" {
		text = " "
	}
	return "`" + text + "`"
}

// unmarked breaks up what begins a hidden mark: the wire finds its comments by theirs, and text of others must not hold one.
func unmarked(text string) string { return strings.ReplaceAll(text, "<!--", "<! --") }

// cutBytes bounds the work on text of unknown origin.
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

// link writes an address so that it can be clicked; what is no plain web address stays text, without any password.
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

// web says that it is a plain web address of a length that can be shown, without a password.
func web(address string) bool {
	u, err := url.Parse(address)
	return err == nil && len(address) <= maxAddress && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil && !strings.ContainsAny(address, "<> \t\n`|")
}

// mention addresses a person; what is no login stays text.
func mention(actor string) string {
	actor = strings.TrimPrefix(actor, "github:")
	if login.MatchString(actor) {
		return "@" + actor
	}
	return plain(actor)
}

// fit keeps a body below what GitHub takes, cutting at a line's end.
func fit(body string) string { return fitInto(body, maxBody) }

// fitInto keeps a body below so many bytes, likewise.
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

// bar draws a percentage as twenty cells.
func bar(percent int) string {
	percent = min(max(percent, 0), 100)
	return fmt.Sprintf("`[%s%s] %d %%`", strings.Repeat("█", percent/5), strings.Repeat("░", 20-percent/5), percent)
}

// moment writes a time. Clusters that live shorter than an hour (a demo's) need the seconds.
func moment(t time.Time, life time.Duration) string {
	if t.IsZero() {
		return "a time not known yet"
	}
	if life > 0 && life < time.Hour {
		return t.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// precise writes a time with its seconds, where it has some.
func precise(t time.Time) string { return t.UTC().Format("2006-01-02 ") + clock(t) + " UTC" }

// day writes a time as people say it, with its seconds where it has some.
func day(t time.Time) string {
	if t.IsZero() {
		return "a time not known yet"
	}
	return t.UTC().Format("Monday 2 January 2006") + " at " + clock(t) + " UTC"
}

// clock writes the time of a day alone, with its seconds where it has some.
func clock(t time.Time) string {
	if t.Second() == 0 {
		return t.UTC().Format("15:04")
	}
	return t.UTC().Format("15:04:05")
}

// sentence starts with a capital and ends with a stop.
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

// Time is a moment as people read it where seconds matter.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
