package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/ocpctl/ocpctl/internal/blockkit"
)

// interaction is what all interactions have in common, under the lock.
// https://docs.slack.dev/reference/interaction-payloads
func (s *Server) interaction(kind string, p Person) object {
	who := object{"id": p.ID, "username": p.Login, "name": p.Login, "team_id": p.Workspace}
	return object{
		"type": kind, "token": legacyToken, "team": object{"id": Workspace, "domain": "acme"}, "user": who, "api_app_id": App,
		"trigger_id": s.newTrigger(p.ID), "is_enterprise_install": false, "enterprise": enterprise(p),
	}
}

func enterprise(p Person) any {
	if p.Org == "" {
		return nil
	}
	return object{"id": p.Org, "name": "Acme"}
}

// interact sends an interaction.
func (s *Server) interact(ctx context.Context, o object) response {
	return s.deliver(ctx, request{kind: interactive, name: str(o, "type"), payload: o})
}

// surface is what a person acts in: a message or a view.
type surface struct {
	message *Message
	view    *View
	channel *Channel
}

func (f surface) blocks() []object {
	if f.view != nil {
		return decode(f.view.Blocks)
	}
	return decode(f.message.Blocks)
}

// surface finds a message by its timestamp, or a view by its id, that a person sees. Under the lock.
func (s *Server) surface(p Person, at string) (surface, error) {
	if v := s.view(at, at); v != nil {
		stack := s.stack(p.ID)
		if v.Person != p.ID || v.Type == "modal" && stack[len(stack)-1] != v {
			return surface{}, fmt.Errorf("%s does not see the view %s", p.Login, at)
		}
		return surface{view: v}, nil
	}
	for _, m := range s.world.Messages {
		if m.TS == at && !m.Deleted && s.sees(p.ID, m) {
			return surface{message: m, channel: s.channel(m.Channel)}, nil
		}
	}
	return surface{}, fmt.Errorf("%s sees no message or view %s", p.Login, at)
}

// actions is what is sent about an element on which a person acted. Under the lock.
func (s *Server) actions(p Person, f surface, b, e, value object) object {
	_, now := s.stamp()
	action := object{"action_id": str(e, "action_id"), "block_id": str(b, "block_id"), "type": str(e, "type"), "action_ts": now}
	for _, key := range []string{"text", "value", "style", "placeholder"} {
		if e[key] != nil && (str(e, "type") == "button" || key == "placeholder") {
			action[key] = e[key]
		}
	}
	maps.Copy(action, value)
	o := s.interaction("block_actions", p)
	o["actions"] = []object{action}
	if f.view != nil {
		o["container"], o["view"] = object{"type": "view", "view_id": f.view.ID}, f.view.object()
		return o
	}
	m, c := f.message, f.channel
	container := object{"type": "message", "message_ts": m.TS, "channel_id": c.ID, "is_ephemeral": m.To != "" && m.Kind != KindDirect}
	if m.Thread != "" {
		container["thread_ts"] = m.Thread
	}
	o["container"], o["channel"] = container, object{"id": c.ID, "name": c.spoken()}
	o["response_url"] = s.newHook("actions", p.ID, c.ID, m.TS)
	state := initial(f.blocks(), nil)
	if len(value) > 0 && !stateless(e) {
		state[str(b, "block_id")][str(e, "action_id")] = value
	}
	o["state"] = object{"values": state}
	if container["is_ephemeral"] == false { // an ephemeral message is not sent along
		o["message"] = m.object()
	}
	return o
}

// submitted shows what the app answers to the submission of a view, under the lock.
// https://docs.slack.dev/surfaces/modals
func (s *Server) submitted(v *View, r response) {
	var answer struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   json.RawMessage   `json:"view"`
	}
	const trouble = "We had some trouble connecting. Try again?"
	v.Errors, v.Trouble = nil, ""
	if r.code != "" || len(r.body) > 0 && string(r.body) != "null" && json.Unmarshal(r.body, &answer) != nil {
		v.Trouble = trouble
		return
	}
	valid := func() bool {
		var given struct{ Type string }
		return len(blockkit.View(answer.View)) == 0 && json.Unmarshal(answer.View, &given) == nil && given.Type == "modal"
	}
	switch answer.Action {
	case "":
		s.closeViews(func(other *View) bool { return other == v })
	case "clear":
		s.closeViews(func(other *View) bool { return other.Person == v.Person })
	case "errors":
		if len(answer.Errors) == 0 || !knownBlocks(v, answer.Errors) {
			v.Trouble = trouble
			return
		}
		v.Errors = answer.Errors
	case "update":
		if !valid() {
			v.Trouble = trouble
			return
		}
		v.read(s, answer.View)
	case "push":
		if !valid() || len(s.stack(v.Person)) >= mostViews {
			v.Trouble = trouble
			return
		}
		s.push(v.Person, answer.View)
	default:
		v.Trouble = trouble
	}
}

// knownBlocks says that every error is at an input of the view.
func knownBlocks(v *View, errors map[string]string) bool {
	inputs := map[string]bool{}
	for _, b := range decode(v.Blocks) {
		inputs[str(b, "block_id")] = str(b, "type") == "input"
	}
	for block := range errors {
		if !inputs[block] {
			return false
		}
	}
	return true
}
