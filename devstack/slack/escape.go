package slack

import (
	"regexp"
	"slices"
	"strings"

	"github.com/slack-go/slack/slackutilsx"
)

// mention matches what Slack replaces in a typed text: people and groups, channels, and links.
var mention = regexp.MustCompile(`(^|[\s(,;])([@#][\w.-]*\w|https?://[^\s<>]+)`)

// escaped is a typed text as Slack sends it, under the lock. In commands mentions carry the name too.
// https://docs.slack.dev/interactivity/implementing-slash-commands, https://docs.slack.dev/messaging/formatting-message-text
func (s *Server) escaped(p Person, text string, named bool) string {
	text = slackutilsx.EscapeMessage(text)
	return mention.ReplaceAllStringFunc(text, func(found string) string {
		at := strings.IndexAny(found, "@#h")
		return found[:at] + s.mentioned(p, found[at:], named)
	})
}

func (s *Server) mentioned(p Person, typed string, named bool) string {
	label := func(id, name string) string {
		if named {
			return id + "|" + name
		}
		return id
	}
	name := typed[1:]
	if typed[0] == 'h' {
		return "<" + typed + ">"
	}
	if typed[0] == '#' {
		if c := s.channel(name); c != nil && c.Direct == "" && (!c.Private || c.has(p.ID)) {
			return "<#" + label(c.ID, c.Name) + ">"
		}
		return typed
	}
	if i := slices.IndexFunc(Groups, func(g Group) bool { return g.Handle == name }); i >= 0 {
		return "<!subteam^" + label(Groups[i].ID, "@"+name) + ">"
	}
	if other, ok := find(s.world.People, name); ok && other.Login == name {
		return "<@" + label(other.ID, name) + ">"
	}
	return typed
}
