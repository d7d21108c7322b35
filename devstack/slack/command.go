package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/blockkit"
)

// Command types /ocp and the text as a person in a channel, and returns the text of the immediate response.
func (s *Server) Command(ctx context.Context, who, channel, text string) (got string, err error) {
	defer must.Catch(&err)
	p, c := must.Get2(s.at(who, channel))
	s.mu.Lock()
	text = s.escaped(p, text, true)
	form := s.form(p, c, text)
	_, err = s.say(Message{Kind: KindCommand, Channel: c.ID, From: p.ID, To: p.ID, Text: strings.TrimRight("/ocp "+text, " ")})
	s.mu.Unlock()
	must.Do(err)
	r := s.deliver(ctx, request{kind: slashCommands, name: "slash_command", form: form})
	m, shown := s.immediate(r)
	if !shown {
		return "", nil
	}
	m.Channel, m.From = c.ID, Bot
	if m.Kind != KindChannel {
		m.To = p.ID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.say(m)
	return m.Text, err
}

// form is a slash command as Slack sends it, under the lock.
func (s *Server) form(p Person, c *Channel, text string) url.Values {
	form := url.Values{
		"token": {legacyToken}, "team_id": {Workspace}, "team_domain": {"acme"}, "channel_id": {c.ID}, "channel_name": {c.spoken()},
		"user_id": {p.ID}, "user_name": {p.Login}, "command": {"/ocp"}, "text": {text}, "api_app_id": {App},
		"is_enterprise_install": {"false"}, "response_url": {s.newHook("commands", p.ID, c.ID, "")}, "trigger_id": {s.newTrigger(p.ID)},
	}
	if p.Org != "" {
		form["enterprise_id"], form["enterprise_name"] = []string{p.Org}, []string{"Acme"}
	}
	return form
}

// immediate is what Slack shows of the response to a command: its message, or why there is none.
func (s *Server) immediate(r response) (m Message, shown bool) {
	failed := func(code string) Message {
		return Message{Kind: KindAck, Text: "/ocp failed with the error \"" + code + "\""}
	}
	switch {
	case r.code != "":
		return failed(r.code), true
	case len(r.body) == 0:
		return Message{}, false
	case !r.json:
		return Message{Kind: KindAck, Text: string(r.body)}, true
	}
	var answer struct {
		Type   string `json:"response_type"`
		Text   string
		Blocks json.RawMessage
	}
	if json.Unmarshal(r.body, &answer) != nil {
		return failed("invalid_command_response"), true
	}
	m = Message{Kind: KindAck, Text: answer.Text}
	if len(answer.Blocks) > 0 && string(answer.Blocks) != "[]" {
		if len(blockkit.Message(message(answer.Text, answer.Blocks))) > 0 {
			return failed("invalid_command_response"), true
		}
		m.Blocks = identified(answer.Blocks)
	}
	if answer.Type == "in_channel" {
		m.Kind = KindChannel
	}
	return m, m.Text != "" || len(m.Blocks) > 0
}

// at checks that a person can act in a channel.
func (s *Server) at(who, channel string) (_ Person, _ *Channel, err error) {
	defer must.Catch(&err)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := must.Get(s.actor(who))
	c := s.channel(channel)
	must.FailIf(c == nil, "there is no channel %s", channel)
	must.FailIf(!c.has(p.ID), "%s is not in %s", p.Login, c.Name)
	must.FailIf(c.Archived, "%s is archived: nobody can write there", c.Name)
	return p, c, nil
}

// actor finds somebody who can act, under the lock.
func (s *Server) actor(who string) (Person, error) {
	p, ok := find(s.world.People, who)
	switch {
	case !ok:
		return Person{}, fmt.Errorf("%s is nobody of the workspace", who)
	case p.Deactivated:
		return Person{}, fmt.Errorf("%s is deactivated and cannot sign in", who)
	case p.Bot:
		return Person{}, fmt.Errorf("%s is a bot", who)
	}
	return p, nil
}
