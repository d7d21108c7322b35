package slack

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack/slackutilsx"
)

// maxText is what Slack recommends a message to have at most, in characters; it cuts at ten times as many.
// https://docs.slack.dev/reference/methods/chat.postMessage
const maxText = 4000

const cut = "\n… cut here, there was more than a message can hold."

// Text is Markdown as GitHub's, in Slack's own markup: headings and bold, code, links, lists and quotes are kept. Whatever could
// be markup of Slack's without being meant, a mention or a link of somebody's making, is text.
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

// block turns the mark at a line's beginning into Slack's.
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

// The spans of a line, each with what is inside.
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

// apart keeps a sign from being markup: Slack, which knows no escape for it, takes it for some only at a word's edge.
const apart = "\u2060"

// plain is text that holds no markup.
func plain(text string) string {
	return strings.NewReplacer("*", apart+"*"+apart, "`", apart+"'"+apart, "~", apart+"~"+apart).Replace(slackutilsx.EscapeMessage(text))
}

// fit keeps a message below what Slack takes, at a line's end: no markup is cut in two.
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
