package play

import (
	"html"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

// markup is what Slack's clients render: code, links and mentions, and styles around words.
// https://docs.slack.dev/messaging/formatting-message-text
var markup = regexp.MustCompile("```\n?((?s:.+?))\n?```|`([^`\n]+)`" + `|<([^<>\n]+)>|\*([^*\n]+)\*|\b_([^_\n]+)_\b|~([^~\n]+)~|:([a-z0-9_+-]+):`)

// emoji are the short names that the app may use.
var emoji = map[string]string{
	"white_check_mark": "✅", "x": "❌", "warning": "⚠️", "hourglass": "⌛", "hourglass_flowing_sand": "⏳", "rocket": "🚀", "fire": "🔥", "lock": "🔒",
	"large_green_circle": "🟢", "large_yellow_circle": "🟡", "large_orange_circle": "🟠", "red_circle": "🔴", "large_blue_circle": "🔵", "white_circle": "⚪",
	"black_circle": "⚫", "no_entry": "⛔", "wastebasket": "🗑️", "eyes": "👀", "bell": "🔔", "moneybag": "💰", "clock1": "🕐", "tada": "🎉", "key": "🔑",
	"octagonal_sign": "🛑", "information_source": "ℹ️", "wave": "👋", "gear": "⚙️", "heavy_check_mark": "✔️", "alarm_clock": "⏰",
}

// mrkdwn renders text as Slack's clients do; everything that is no markup is unchanged.
func (v *viewer) mrkdwn(text string) template.HTML {
	var b strings.Builder
	quoted := false
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.Count(line, "```")%2 == 1 { // code of several lines
			for i+1 < len(lines) {
				i++
				line += "\n" + lines[i]
				if strings.Contains(lines[i], "```") {
					break
				}
			}
		}
		rest, isQuote := strings.CutPrefix(line, "&gt;")
		if isQuote != quoted {
			b.WriteString(map[bool]string{true: "<blockquote>", false: "</blockquote>"}[isQuote])
		} else if i > 0 && b.Len() > 0 {
			b.WriteString("\n")
		}
		quoted = isQuote
		b.WriteString(v.inline(strings.TrimPrefix(rest, " ")))
	}
	if quoted {
		b.WriteString("</blockquote>")
	}
	return template.HTML(b.String()) // every text in it is escaped
}

func plain(s string) string { return template.HTMLEscapeString(html.UnescapeString(s)) }

// inline renders the markup within a line.
func (v *viewer) inline(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		found := markup.FindStringSubmatchIndex(text)
		if found == nil {
			break
		}
		group := func(n int) string {
			if found[2*n] < 0 {
				return ""
			}
			return text[found[2*n]:found[2*n+1]]
		}
		b.WriteString(plain(text[:found[0]]))
		switch {
		case group(1) != "":
			b.WriteString("<pre>" + plain(group(1)) + "</pre>")
		case group(2) != "":
			b.WriteString("<code>" + plain(group(2)) + "</code>")
		case group(3) != "":
			b.WriteString(v.angled(group(3)))
		case group(4) != "":
			b.WriteString("<strong>" + v.inline(group(4)) + "</strong>")
		case group(5) != "":
			b.WriteString("<em>" + v.inline(group(5)) + "</em>")
		case group(6) != "":
			b.WriteString("<s>" + v.inline(group(6)) + "</s>")
		case emoji[group(7)] != "":
			b.WriteString(emoji[group(7)])
		default:
			b.WriteString(plain(text[found[0]:found[1]]))
		}
		text = text[found[1]:]
	}
	return b.String() + plain(text)
}

// angled renders a link, a mention or a date.
func (v *viewer) angled(inside string) string {
	what, label, labelled := strings.Cut(inside, "|")
	mention := func(text string) string { return `<span class="mention">` + plain(text) + "</span>" }
	switch {
	case strings.HasPrefix(what, "@"):
		return mention(v.person(what[1:]))
	case strings.HasPrefix(what, "#"):
		return mention(v.place(what[1:]))
	case strings.HasPrefix(what, "!subteam^"):
		for _, g := range slack.Groups {
			if g.ID == strings.TrimPrefix(what, "!subteam^") {
				return mention("@" + g.Handle)
			}
		}
		return mention(label)
	case strings.HasPrefix(what, "!date^"):
		return date(what, label)
	case strings.HasPrefix(what, "!"):
		return mention("@" + what[1:])
	case strings.HasPrefix(what, "http://"), strings.HasPrefix(what, "https://"), strings.HasPrefix(what, "mailto:"):
		if !labelled {
			label = what
		}
		return `<a href="` + plain(what) + `">` + plain(label) + "</a>"
	}
	return plain("<" + inside + ">")
}

// date renders <!date^seconds^format^link|fallback> in UTC.
func date(what, fallback string) string {
	parts := strings.Split(what, "^")
	seconds, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil || len(parts) < 3 {
		return plain(fallback)
	}
	at := time.Unix(seconds, 0).UTC()
	text := strings.NewReplacer(
		"{date_num}", at.Format("2006-01-02"), "{date}", at.Format("January 2, 2006"), "{date_short}", at.Format("Jan 2, 2006"),
		"{date_long}", at.Format("Monday, January 2, 2006"), "{date_pretty}", at.Format("January 2, 2006"), "{date_short_pretty}", at.Format("Jan 2, 2006"),
		"{date_long_pretty}", at.Format("Monday, January 2, 2006"), "{time}", at.Format("15:04"), "{time_secs}", at.Format("15:04:05"), "{ago}", at.Format("15:04"),
	).Replace(parts[2])
	return `<time datetime="` + at.Format(time.RFC3339) + `" title="` + plain(fallback) + `">` + plain(text) + "</time>"
}
