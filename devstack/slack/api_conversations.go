package slack

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// allowed says that the app has a scope.
func allowed(scope string) bool { return slices.Contains(Scopes, scope) }

// readable finds a channel and checks the scope for its type: history or read. Otherwise it ends the call. Under the lock.
func (s *Server) readable(id, what string) *Channel {
	c := s.channel(id)
	must.EndIf(c == nil || c.ID != id || !c.has(Bot) && (c.Private || c.Direct != ""), no("channel_not_found"))
	scope := map[string]string{"channel": "channels:", "group": "groups:", "im": "im:"}[c.kind()] + what
	must.EndIf(!allowed(scope), lacks(scope))
	return c
}

func (s *Server) conversationOpen(a args) reply {
	who := a["users"]
	if a["channel"] != "" {
		c := s.channel(a["channel"])
		must.EndIf(c == nil || c.Direct == "", no("channel_not_found"))
		who = c.Direct
	}
	p, ok := find(s.world.People, who)
	switch {
	case strings.Contains(who, ","): // a group's conversation needs another scope
		return lacks("mpim:write")
	case !ok || p.ID != who:
		return no("user_not_found")
	case p.Bot:
		return no("cannot_dm_bot")
	case p.Deactivated:
		return no("user_disabled")
	}
	c, already := s.openDirect(who)
	must.Do(s.save())
	about := any(reply{"id": c.ID})
	if a.is("return_im") {
		about = c.object()
	}
	return reply{"ok": true, "no_op": already, "already_open": already, "channel": about}
}

func (s *Server) conversationInfo(a args) reply {
	c := s.readable(a["channel"], "read")
	o := c.object()
	if a.is("include_num_members") {
		o["num_members"] = len(c.Members)
	}
	return reply{"ok": true, "channel": o}
}

func (s *Server) conversationMembers(a args) reply {
	c := s.readable(a["channel"], "read")
	list := make([]any, len(c.Members))
	for i, m := range c.Members {
		list[i] = m
	}
	return page(a, "members", list)
}

func (s *Server) history(a args) reply {
	c := s.readable(a["channel"], "history")
	must.EndIf(!c.has(Bot), no("not_in_channel"))
	found := s.between(a, c, func(m *Message) bool { return m.Thread == "" || m.Broadcast })
	slices.Reverse(found) // the newest first
	answer := page(a, "messages", s.objects(a, found))
	answer["pin_count"] = 0
	return answer
}

func (s *Server) replies(a args) reply {
	c := s.readable(a["channel"], "history")
	must.EndIf(!c.has(Bot), no("not_in_channel"))
	root := s.root(c.ID, a["ts"])
	must.EndIf(root == "", no("thread_not_found"))
	found := s.between(a, c, func(m *Message) bool { return m.TS == root || m.Thread == root })
	return page(a, "messages", s.objects(a, found))
}

// between returns a channel's messages between oldest and latest, oldest first. What only one person sees is not among them.
func (s *Server) between(a args, c *Channel, pick func(*Message) bool) (found []*Message) {
	for _, bound := range []string{"oldest", "latest"} {
		must.EndIf(strings.Trim(a[bound], "0123456789.") != "", no("invalid_ts_"+bound))
	}
	after := func(ts, bound string) bool {
		return bound == "" || later(ts, bound) > 0 || a.is("inclusive") && later(ts, bound) == 0
	}
	before := func(ts, bound string) bool {
		return bound == "" || later(ts, bound) < 0 || a.is("inclusive") && later(ts, bound) == 0
	}
	for _, m := range s.world.Messages {
		public := m.Kind == KindTyped || m.Kind == KindChannel || m.Kind == KindDirect
		there := !m.Deleted || s.hasReplies(m)
		if m.Channel == c.ID && public && there && pick(m) && after(m.TS, a["oldest"]) && before(m.TS, a["latest"]) {
			found = append(found, m)
		}
	}
	return found
}

// later compares two timestamps, of which the second may have no fraction.
func later(a, b string) int {
	pad := func(ts string) string {
		whole, part, _ := strings.Cut(ts, ".")
		whole = strings.Repeat("0", max(0, 12-len(whole))) + whole
		return whole + "." + (part + "000000")[:6]
	}
	return strings.Compare(pad(a), pad(b))
}

// objects returns messages as the bot reads them: its own with metadata, if it asks for them.
func (s *Server) objects(a args, messages []*Message) []any {
	list := make([]any, len(messages))
	for i, m := range messages {
		o := m.object()
		if len(m.Metadata) > 0 && !m.Deleted {
			var metadata map[string]any
			if json.Unmarshal(m.Metadata, &metadata) == nil && !a.is("include_all_metadata") {
				delete(metadata, "event_payload") // without the flag, the type alone
			}
			o["metadata"] = metadata
		}
		answers := 0
		for _, r := range s.world.Messages {
			if r.Thread == m.TS && r.Channel == m.Channel && !r.Deleted && r.Kind != KindEphemeral {
				answers++
			}
		}
		if answers > 0 {
			o["thread_ts"], o["reply_count"] = m.TS, answers
		}
		list[i] = o
	}
	return list
}

// page returns the part of a list that a call asks for, by limit and cursor.
func page(a args, name string, list []any) reply {
	limit, start := a.number("limit", 100), 0
	must.EndIf(limit < 1 || limit > 1000, no("invalid_limit"))
	if a["cursor"] != "" {
		raw, err := base64.StdEncoding.DecodeString(a["cursor"])
		start = args{"n": strings.TrimPrefix(string(raw), "next:")}.number("n", -1)
		must.EndIf(err != nil || start < 0 || start > len(list), no("invalid_cursor"))
	}
	end, next := min(start+limit, len(list)), ""
	if end < len(list) {
		next = base64.StdEncoding.EncodeToString([]byte("next:" + strconv.Itoa(end)))
	}
	part := list[start:end]
	if part == nil {
		part = []any{}
	}
	answer := reply{"ok": true, name: part, "response_metadata": reply{"next_cursor": next}}
	if name == "messages" {
		answer["has_more"] = next != ""
	}
	return answer
}
