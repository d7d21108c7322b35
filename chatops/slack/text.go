package slack

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack/slackutilsx"
)

// maxText is the recommended maximum length of a message, in characters; Slack truncates at ten times that.
// https://docs.slack.dev/reference/methods/chat.postMessage
const maxText = 4000

const cut = "\n… cut here, there was more than a message can hold."

// Text converts GitHub's Markdown to Slack's markup: it keeps headings and bold, code, links, lists and quotes. What could
// unintentionally be Slack markup, such as a mention or link in someone's text, stays plain text.
// https://docs.slack.dev/messaging/formatting-message-text
func Text(markdown string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.Trim(markdown, "\n"), "\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(block(line))
	}
	return fit(b.String())
}

// block converts the mark at a line's beginning.
func block(line string) string {
	if heading := strings.TrimLeft(line, "#"); len(heading) < len(line) && strings.HasPrefix(heading, " ") {
		return "*" + strings.ReplaceAll(inline(strings.TrimSpace(heading)), "*", "") + "*"
	}
	if quoted, ok := strings.CutPrefix(line, "> "); ok {
		return "> " + inline(quoted)
	}
	text := strings.TrimLeft(line, " ")
	if item, ok := strings.CutPrefix(text, "- "); ok {
		return line[:len(line)-len(text)] + "• " + inline(item)
	}
	return inline(line)
}

// spans matches the spans of a line, each with its content.
var spans = regexp.MustCompile("`([^`]+)`" + `|\\([\\` + "`" + `*\[\]<>|_~&])|\[([^\]]*)\]\((https?://[^\s)<>|]+)\)|<(https?://[^\s<>|]+)>|(\*\*)`)

func inline(text string) string {
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
		b.WriteString(plain(text[:at[0]]))
		switch {
		case group(1) != "":
			b.WriteString("`" + slackutilsx.EscapeMessage(group(1)) + "`")
		case group(2) != "":
			b.WriteString(plain(group(2)))
		case group(4) != "":
			b.WriteString("<" + slackutilsx.EscapeMessage(group(4)) + "|" + strings.ReplaceAll(plain(group(3)), "|", "/") + ">")
		case group(5) != "":
			b.WriteString("<" + slackutilsx.EscapeMessage(group(5)) + ">")
		default:
			b.WriteString("*")
		}
		text = text[at[1]:]
	}
	b.WriteString(plain(text))
	return b.String()
}

// apart keeps a character from being markup: Slack has no escape for it, but interprets it only at the edge of a word.
const apart = "\u2060"

// plain is text without markup.
func plain(text string) string {
	return strings.NewReplacer("*", apart+"*"+apart, "`", apart+"'"+apart, "~", apart+"~"+apart).Replace(slackutilsx.EscapeMessage(text))
}

// fit cuts a message to Slack's limit, at a line's end so that no markup is cut in two.
func fit(text string) string {
	if utf8.RuneCountInString(text) <= maxText {
		return text
	}
	short := string([]rune(text)[:maxText-utf8.RuneCountInString(cut)])
	if end := strings.LastIndexByte(short, '\n'); end > 0 {
		short = short[:end]
	}
	return short + cut
}
