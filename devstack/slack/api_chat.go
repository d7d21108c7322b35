package slack

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/blockkit"
)

// The longest texts that Slack accepts, in characters. https://docs.slack.dev/reference/methods/chat.update
const (
	mostText    = 40_000
	mostUpdated = 4_000
)

// mostMetadata is the largest metadata. https://docs.slack.dev/messaging/message-metadata
const mostMetadata = 16_000

// content is what a call says about a message.
type content struct {
	text               string
	blocks, metadata   json.RawMessage
	hasText, hasBlocks bool
	hasMetadata        bool
}

// content reads and checks a message. It ends the call if one cannot be sent.
func (a args) content(most int) (c content) {
	_, c.hasText = a["text"]
	c.text = a["text"]
	if raw := a["blocks"]; raw != "" {
		c.hasBlocks = true
		var list []map[string]any
		must.EndIf(json.Unmarshal([]byte(raw), &list) != nil, no("invalid_blocks_format"))
		if len(list) > 0 {
			refusal := wrong(blockkit.Message(message(c.text, []byte(raw))))
			must.EndIf(refusal != nil, refusal)
			c.blocks = identified([]byte(raw))
		}
	}
	must.EndIf(utf8.RuneCountInString(c.text) > most, no("msg_too_long"))
	if raw := a["metadata"]; raw != "" {
		c.hasMetadata = true
		var m struct {
			Type    string         `json:"event_type"`
			Payload map[string]any `json:"event_payload"`
		}
		if strings.TrimSpace(raw) != "{}" { // which removes it
			must.EndIf(json.Unmarshal([]byte(raw), &m) != nil || m.Type == "" || m.Payload == nil, no("invalid_metadata_format"))
			must.EndIf(len(raw) > mostMetadata, no("metadata_too_large"))
			c.metadata = json.RawMessage(raw)
		}
	}
	return c
}

// message is a message as the rules of Block Kit are applied to it.
func message(text string, blocks json.RawMessage) []byte {
	raw, err := json.Marshal(map[string]any{"text": text, "blocks": blocks})
	if err != nil {
		panic(err) // blocks are valid JSON
	}
	return raw
}

// wrong refuses invalid blocks as Slack does; nil: there are no problems.
func wrong(problems []string) reply {
	if len(problems) == 0 {
		return nil
	}
	messages := make([]string, len(problems))
	for i, p := range problems {
		messages[i] = "[ERROR] " + p
	}
	return reply{"ok": false, "error": "invalid_blocks", "errors": problems, "response_metadata": reply{"messages": messages}}
}

// writable finds the channel of a call and ends the call if the bot cannot write there. Under the lock.
func (s *Server) writable(a args) *Channel {
	c := s.place(a["channel"])
	must.EndIf(c == nil || c.Private && !c.has(Bot), no("channel_not_found")) // the bot cannot see it
	must.EndIf(c.Archived, no("is_archived"))
	must.EndIf(!c.has(Bot), no("not_in_channel"))
	return c
}

// place finds the channel of a call. A person's id stands for their direct message. Under the lock.
func (s *Server) place(id string) *Channel {
	if p, ok := find(s.world.People, id); ok && p.ID == id && !p.Bot && !p.Deactivated {
		c, _ := s.openDirect(id)
		return c
	}
	if !strings.ContainsAny(id[:min(len(id), 1)], "CDG") {
		return nil // names are accepted by Slack in part, and never needed
	}
	return s.channel(id)
}

var timestamp = regexp.MustCompile(`^\d{10}\.\d{6}$`)

func (s *Server) postMessage(a args) reply {
	c := s.writable(a)
	said := a.content(mostText)
	must.EndIf(said.text == "" && len(said.blocks) == 0, no("no_text"))
	must.EndIf(a["thread_ts"] != "" && !timestamp.MatchString(a["thread_ts"]), no("invalid_thread_ts"))
	m := Message{
		Kind: KindChannel, Channel: c.ID, From: Bot, Text: said.text, Blocks: said.blocks, Metadata: said.metadata,
		Thread: s.root(c.ID, a["thread_ts"]), Broadcast: a.is("reply_broadcast"),
	}
	if c.Direct != "" {
		m.Kind, m.To = KindDirect, c.Direct
	}
	posted := must.Get(s.say(m))
	s.botWrote(c, posted, nil)
	o := posted.object()
	if len(posted.Metadata) > 0 {
		o["metadata"] = posted.Metadata
	}
	return reply{"ok": true, "channel": c.ID, "ts": posted.TS, "message": o}
}

func (s *Server) postEphemeral(a args) reply {
	c := s.writable(a)
	said := a.content(mostText)
	p, known := find(s.world.People, a["user"])
	must.EndIf(said.text == "" && len(said.blocks) == 0, no("no_text"))
	must.EndIf(!known || p.ID != a["user"] || p.Deactivated || !c.has(p.ID), no("user_not_in_channel"))
	m := must.Get(s.say(Message{
		Kind: KindEphemeral, Channel: c.ID, From: Bot, To: p.ID, Text: said.text, Blocks: said.blocks, Thread: s.root(c.ID, a["thread_ts"]),
	}))
	return reply{"ok": true, "message_ts": m.TS}
}

// own finds a message that the bot may change. Otherwise it ends the call.
func (s *Server) own(a args, notMine string) (*Channel, *Message) {
	c := s.channel(a["channel"])
	must.EndIf(c == nil || c.ID != a["channel"] || c.Private && !c.has(Bot), no("channel_not_found"))
	m := s.message(c.ID, a["ts"])
	must.EndIf(m == nil || m.Kind == KindEphemeral || m.Kind == KindCommand || m.Kind == KindAck, no("message_not_found"))
	must.EndIf(c.Archived, no("is_inactive"))
	must.EndIf(m.From != Bot, no(notMine))
	return c, m
}

func (s *Server) update(a args) reply {
	c, m := s.own(a, "cant_update_message")
	said := a.content(mostUpdated)
	must.EndIf(!said.hasText && !said.hasBlocks && !said.hasMetadata || said.text == "" && len(said.blocks) == 0 && len(m.Blocks) == 0, no("no_text"))
	before := *m
	if said.hasText {
		m.Text = said.text
	}
	if said.hasBlocks || said.hasText { // a text without blocks replaces them
		m.Blocks = said.blocks
	}
	if said.hasMetadata {
		m.Metadata = said.metadata
	}
	m.Edits++
	_, m.Edited = s.stamp()
	must.Do(s.save())
	s.botWrote(c, m, &before)
	return reply{"ok": true, "channel": c.ID, "ts": m.TS, "text": m.Text, "message": m.object()}
}

func (s *Server) remove(a args) reply {
	c, m := s.own(a, "cant_delete_message")
	m.Deleted = true
	must.Do(s.save())
	return reply{"ok": true, "channel": c.ID, "ts": m.TS}
}

// identified gives every block and element the id that Slack gives to those without.
func identified(raw []byte) json.RawMessage {
	var blocks []map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&blocks); err != nil {
		panic(err) // checked before
	}
	for _, b := range blocks {
		if b["block_id"] == nil {
			b["block_id"] = random(5)
		}
		for _, e := range elementsOf(b) {
			if e["action_id"] == nil && slices.Contains(acting, e["type"].(string)) {
				e["action_id"] = random(5)
			}
		}
	}
	out, err := json.Marshal(blocks)
	if err != nil {
		panic(err) // it was JSON
	}
	return out
}
