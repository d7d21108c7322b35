package slack

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack/slackutilsx"
)

// Message is a message as it is now, and who sees it.
type Message struct {
	ID      int64  // its timestamp in microseconds
	TS      string // in Slack's form, e.g. 1710000000.000100
	Kind    string // see the constants
	Channel string // id
	From    string // id of the person who wrote it, or Bot
	To      string // id of the person who sees it; empty: everybody in the channel
	Text    string // in Slack's markup
	At      time.Time

	Blocks    json.RawMessage // empty: none
	Metadata  json.RawMessage // empty: none
	Thread    string          // timestamp of the message in whose thread it is; empty: in none
	Broadcast bool            // a reply that is shown in the channel too
	Edits     int             // how often it was changed
	Edited    string          // when it was changed last, in Slack's form; empty: never
	Deleted   bool
}

// The kinds of messages.
const (
	KindCommand   = "command"   // a slash command, which its author alone sees
	KindAck       = "ack"       // the response to a request, which its author alone sees
	KindTyped     = "typed"     // written by a person
	KindChannel   = "channel"   // posted by the bot in a channel
	KindDirect    = "direct"    // posted by the bot in a direct message
	KindEphemeral = "ephemeral" // posted by the bot in a channel, for one person
)

// Messages returns all messages as they are now, oldest first.
func (s *Server) Messages() (list []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.world.Messages {
		list = append(list, *m)
	}
	return list
}

// Visible returns the messages that somebody sees in a channel, oldest first. It has the replies too, and what is left of deleted
// messages with replies.
func (s *Server) Visible(who, channel string) (list []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, _ := find(s.world.People, who)
	c := s.channel(channel)
	if c == nil || !c.has(p.ID) {
		return nil
	}
	for _, m := range s.world.Messages {
		if m.Channel == c.ID && s.sees(p.ID, m) && (!m.Deleted || s.hasReplies(m)) {
			list = append(list, *m)
		}
	}
	return list
}

// sees says whether a person sees a message, under the lock.
func (s *Server) sees(person string, m *Message) bool {
	c := s.channel(m.Channel)
	switch m.Kind {
	case KindCommand, KindAck, KindEphemeral:
		return m.To == person
	}
	return c != nil && c.has(person)
}

func (s *Server) hasReplies(m *Message) bool {
	return slices.ContainsFunc(s.world.Messages, func(r *Message) bool { return r.Thread == m.TS && r.Channel == m.Channel && !r.Deleted })
}

// Seen returns the texts that the app sent to one person alone, oldest first: responses, ephemeral and direct messages.
func (s *Server) Seen(who string) (texts []string) {
	p, _ := By(who)
	for _, m := range s.Messages() {
		if m.To == p.ID && m.Kind != KindCommand && !m.Deleted {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// message finds a message that exists, under the lock.
func (s *Server) message(channel, ts string) *Message {
	i := slices.IndexFunc(s.world.Messages, func(m *Message) bool { return m.TS == ts && m.Channel == channel })
	if i < 0 || s.world.Messages[i].Deleted {
		return nil
	}
	return s.world.Messages[i]
}

// root is the timestamp of the message in whose thread a reply to a message is; empty: there is no such message, and Slack shows the
// reply in the channel. Under the lock.
func (s *Server) root(channel, ts string) string {
	i := slices.IndexFunc(s.world.Messages, func(m *Message) bool { return m.TS == ts && m.Channel == channel })
	if i < 0 {
		return ""
	}
	m := s.world.Messages[i]
	switch {
	case m.Kind == KindCommand || m.Kind == KindAck || m.Kind == KindEphemeral:
		return ""
	case m.Thread != "":
		return m.Thread
	case m.Deleted && !s.hasReplies(m):
		return ""
	}
	return m.TS
}

// say stores a message and gives it a timestamp, under the lock.
func (s *Server) say(m Message) (*Message, error) {
	m.At = s.cfg.Now()
	m.ID, m.TS = s.stamp()
	s.world.Messages = append(s.world.Messages, &m)
	return &m, s.save()
}

// object returns the message as the Web API and events describe it.
// https://docs.slack.dev/reference/events/message
func (m *Message) object() map[string]any {
	o := map[string]any{"type": "message", "user": m.From, "text": m.Text, "ts": m.TS, "team": Workspace}
	if m.From == Bot {
		o["bot_id"], o["app_id"] = botID, App
	} else {
		o["client_msg_id"] = fmt.Sprintf("00000000-0000-4000-8000-%012x", m.ID&0xffffffffffff)
	}
	if len(m.Blocks) > 0 {
		o["blocks"] = m.Blocks
	}
	if m.Thread != "" {
		o["thread_ts"] = m.Thread
	}
	if m.Edited != "" {
		o["edited"] = map[string]any{"user": m.From, "ts": m.Edited}
	}
	if m.Deleted {
		return map[string]any{"type": "message", "subtype": "tombstone", "text": "This message was deleted.", "user": "USLACKBOT", "hidden": true, "ts": m.TS}
	}
	return o
}

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
