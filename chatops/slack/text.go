package slack

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/slack-go/slack/slackutilsx"
)

// maxText is the recommended maximum length of a message, in characters; Slack truncates at ten times that.
// https://docs.slack.dev/reference/methods/chat.postMessage
const maxText = 4000

const cutMark = "\n… cut here, there was more than a message can hold."

// Text converts GitHub's Markdown as Markup does, and cuts it to the length of a message.
func Text(markdown string) string { return Fit(Markup(markdown)) }

// Markup converts GitHub's Markdown to Slack's markup: it keeps headings and bold, code, links, lists and quotes. What could
// unintentionally be Slack markup, such as a mention or link in someone's text, stays plain text. A time in UTC is shown to each
// reader in their own time zone.
// https://docs.slack.dev/messaging/formatting-message-text
func Markup(markdown string) string {
	var out []string
	fence := 0 // how many backticks opened the code block; 0: none is open
	for line := range strings.SplitSeq(strings.Trim(markdown, "\n"), "\n") {
		marks := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case fence == 0 && marks >= 3 && !strings.Contains(line[marks:], "`"):
			fence, line = marks, "```"
		case fence > 0 && marks >= fence && strings.TrimSpace(line[marks:]) == "":
			fence, line = 0, "```"
		case fence > 0:
			line = quietMentions(slackutilsx.EscapeMessage(strings.ReplaceAll(line, "```", "'''")))
		case fold.MatchString(line):
			continue
		default:
			line = convertBlock(line)
		}
		out = append(out, line)
	}
	if fence > 0 {
		out = append(out, "```")
	}
	return strings.Join(out, "\n")
}

// fold matches the lines that fold a part of a text on GitHub. Slack folds nothing.
var fold = regexp.MustCompile(`^(?:</?details>|<summary>.*</summary>)$`)

// convertBlock converts the mark at a line's beginning.
func convertBlock(line string) string {
	if heading := strings.TrimLeft(line, "#"); len(heading) < len(line) && strings.HasPrefix(heading, " ") {
		return "*" + strings.ReplaceAll(convertInline(strings.TrimSpace(heading)), "*", "") + "*"
	}
	if quoted, ok := strings.CutPrefix(line, "> "); ok {
		return "> " + convertInline(quoted)
	}
	text := strings.TrimLeft(line, " ")
	if item, ok := strings.CutPrefix(text, "- "); ok {
		return line[:len(line)-len(text)] + "• " + convertInline(item)
	}
	return convertInline(line)
}

// spans matches the spans of a line, each with its content.
var spans = regexp.MustCompile("`([^`]+)`" + `|\\([\\` + "`" + `*\[\]<>|_~&])|\[([^\]]*)\]\((https?://[^\s)<>|]+)\)|<(https?://[^\s<>|]+)>|(\*\*)` +
	`|\b([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(?::[0-9]{2})? UTC)\b`)

func convertInline(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		at := spans.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return text[at[2*n]:at[2*n+1]]
		}
		b.WriteString(plainText(text[:at[0]]))
		switch {
		case group(1) != "":
			b.WriteString("`" + quietMentions(slackutilsx.EscapeMessage(group(1))) + "`")
		case group(2) != "":
			b.WriteString(plainText(group(2)))
		case group(4) != "":
			b.WriteString("<" + slackutilsx.EscapeMessage(group(4)) + "|" + strings.ReplaceAll(plainText(group(3)), "|", "/") + ">")
		case group(5) != "":
			b.WriteString("<" + slackutilsx.EscapeMessage(group(5)) + ">")
		case group(7) != "":
			b.WriteString(localTime(group(7)))
		default:
			b.WriteString("*")
		}
		text = text[at[1]:]
	}
	b.WriteString(plainText(text))
	return b.String()
}

// localTime shows a time in the reader's time zone. Old clients show it as it is.
// https://docs.slack.dev/messaging/formatting-message-text#date-formatting
func localTime(text string) string {
	for layout, clock := range map[string]string{"2006-01-02 15:04 UTC": "{time}", "2006-01-02 15:04:05 UTC": "{time_secs}"} {
		if at, err := time.Parse(layout, text); err == nil && at.Unix() > 0 {
			return fmt.Sprintf("<!date^%d^{date_short_pretty} at %s|%s>", at.Unix(), clock, text)
		}
	}
	return text
}

// apart keeps a character from being markup: Slack has no escape for it, but interprets it only at the edge of a word.
const apart = "\u2060"

var marks = strings.NewReplacer("*", apart+"*"+apart, "`", apart+"'"+apart, "~", apart+"~"+apart)

// edge matches underscores at the edge of a word, where they begin or end italics.
var edge = regexp.MustCompile(`(?:^|[^\pL\pN_])_+|_+(?:$|[^\pL\pN_])`)

// plainText is text without markup.
func plainText(text string) string {
	text = edge.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, "_", apart+"_"+apart) })
	return quietMentions(marks.Replace(slackutilsx.EscapeMessage(text)))
}

// everybody matches the words that some clients read as a call of a whole channel.
var everybody = regexp.MustCompile(`(?i)@(here|channel|everyone)`)

func quietMentions(text string) string { return everybody.ReplaceAllString(text, "@\u200b$1") }

// Fit cuts Slack markup to the length of a message, at a line's end if possible.
func Fit(markup string) string {
	if Length(markup) <= maxText {
		return markup
	}
	short, _ := Cut(markup, maxText-Length(cutMark)-len("\n```"))
	if end := strings.LastIndexByte(short, '\n'); end > 0 {
		short = short[:end]
	}
	if strings.Count("\n"+short, "\n```")%2 == 1 {
		short += "\n```"
	}
	return short + cutMark
}

// Length counts characters as UTF-16 does, which is the longest of the ways in which Slack may count them.
func Length(text string) int {
	n := utf8.RuneCountInString(text)
	for _, r := range text {
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Cut splits Slack markup after at most so many characters, at a space if possible, and never within a link, an entity or code. What
// is longer than that itself stops being markup.
func Cut(markup string, most int) (head, rest string) {
	if Length(markup) <= most {
		return markup, ""
	}
	var n, safe, space int
	var within rune // what ends the span; 0: none is open
	for i, r := range markup {
		if within == 0 && i > 0 {
			safe = i
			if unicode.IsSpace(r) {
				space = i
			}
		}
		n++
		if r > 0xFFFF {
			n++
		}
		if n > most {
			break
		}
		switch {
		case within != 0 && (r == within || r == '\n'):
			within = 0
		case within != 0:
		case r == '<':
			within = '>'
		case r == '&':
			within = ';'
		case r == '`':
			within = '`'
		}
	}
	switch {
	case space > safe/2:
		return markup[:space], strings.TrimLeft(markup[space:], " ")
	case safe > 0:
		return markup[:safe], markup[safe:]
	}
	return Cut(strings.NewReplacer("<", "‹", ">", "›", "&", "+", "`", "'").Replace(markup), most)
}
