package slack

import (
	"context"
	"fmt"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// Post is what a person writes.
type Post struct {
	Channel string // id or name
	Thread  string // timestamp of the message to which it is a reply; empty: none
	Text    string // @login, #channel and links become mentions
	Subtype string // file_share, thread_broadcast or me_message; empty: a plain message
}

// Write writes a message as a person and returns its timestamp. The app gets an event if the message is for it: a direct message, or
// a mention in a channel in which the bot is. Write returns after the app responded, or failed to.
func (s *Server) Write(ctx context.Context, who string, post Post) (ts string, err error) {
	p, c, err := s.at(who, post.Channel)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	m, err := s.say(Message{
		Kind: KindTyped, Channel: c.ID, From: p.ID, Text: s.escaped(p, post.Text, false), Thread: s.root(c.ID, post.Thread),
	})
	if err != nil {
		s.mu.Unlock()
		return "", err
	}
	o, ts := m.object(), m.TS
	o["channel"], o["event_ts"], o["team"] = c.ID, m.TS, p.Workspace
	if post.Subtype != "" {
		o["subtype"] = post.Subtype
	}
	if post.Subtype == "file_share" { // https://docs.slack.dev/reference/events/message/file_share
		o["files"], o["upload"] = []object{{"id": "F0DEMOFILE", "name": "log.txt", "mimetype": "text/plain", "size": 12, "user": p.ID}}, false
	}
	if p.Stranger() {
		o["user_team"], o["source_team"] = p.Workspace, p.Workspace
	}
	mentioned := strings.Contains(m.Text, "<@"+Bot+">") && c.has(Bot)
	s.mu.Unlock()
	switch {
	case c.Direct != "":
		o["channel_type"] = "im"
	case mentioned:
		o["type"] = "app_mention"
	default:
		return ts, nil
	}
	await(ctx, s.emit(o))
	return ts, nil
}

// await waits until an event was sent once.
func await(ctx context.Context, first <-chan struct{}) {
	select {
	case <-first:
	case <-ctx.Done():
	}
}

// Mention writes @ocpctl and the text in a channel, and returns the message's timestamp.
func (s *Server) Mention(ctx context.Context, who, channel, text string) (ts string, err error) {
	return s.Write(ctx, who, Post{Channel: channel, Text: "@ocpctl " + text})
}

// DirectMessage writes to the bot, and returns the message's timestamp.
func (s *Server) DirectMessage(ctx context.Context, who, text string) (ts string, err error) {
	s.mu.Lock()
	p, err := s.actor(who)
	if err != nil {
		s.mu.Unlock()
		return "", err
	}
	c, _ := s.openDirect(p.ID)
	s.mu.Unlock()
	return s.Write(ctx, who, Post{Channel: c.ID, Text: text})
}

// Click presses a button, confirming it if it asks. At is a message's timestamp or a view's id; the button is named by its action_id
// or its text. A response other than 200 within three seconds is an error, as Slack shows one.
func (s *Server) Click(ctx context.Context, who, at, button string) error {
	return s.act(ctx, who, at, button, nil)
}

// ChangeField enters or chooses values in a message or view. The field is named by its action_id, its block_id or its label, an option
// by its value or text, a person by login or id, a channel by name or id; no value empties the field. The app is told of it as Slack
// does: at once in a message, and in a view for fields with dispatch_action.
func (s *Server) ChangeField(ctx context.Context, who, at, field string, values ...string) error {
	if values == nil {
		values = []string{}
	}
	return s.act(ctx, who, at, field, values)
}

// act sends what a person does with an element. Values nil: they press a button.
func (s *Server) act(ctx context.Context, who, at, which string, given []string) error {
	s.mu.Lock()
	o, err := s.acted(who, at, which, given)
	s.mu.Unlock()
	if err != nil || o == nil {
		return err
	}
	if r := s.interact(ctx, o); r.code != "" {
		return fmt.Errorf("%s: the app did not respond as it must: %s (status %d)", which, r.code, r.status)
	}
	return nil
}

// acted applies what a person does with an element, and returns what the app gets; nil: nothing. Under the lock.
func (s *Server) acted(who, at, which string, given []string) (_ object, err error) {
	defer must.Catch(&err)
	p := must.Get(s.actor(who))
	f := must.Get(s.surface(p, at))
	b, e := must.Get2(element(f.blocks(), which))
	var value object
	switch isButton := str(e, "type") == "button"; {
	case isButton && given != nil:
		return nil, fmt.Errorf("%s is a button: click it", which)
	case !isButton && given == nil:
		return nil, fmt.Errorf("%s is no button: change it", which)
	case !isButton:
		value = must.Get(s.entered(e, given))
	}
	if f.view != nil && value != nil && !stateless(e) {
		f.view.State[str(b, "block_id")][str(e, "action_id")] = value
		delete(f.view.Errors, str(b, "block_id"))
		must.Do(s.save())
	}
	if str(b, "type") == "input" && b["dispatch_action"] != true {
		return nil, nil // the app gets it with the submission
	}
	return s.actions(p, f, b, e, value), nil
}

// SubmitView submits the modal that a person sees, and returns the one that they see then: the same with errors, another one, or nil.
// A required field that is empty is an error at that field, as in Slack's client, and the app hears nothing of it.
func (s *Server) SubmitView(ctx context.Context, who string) (*View, error) {
	s.mu.Lock()
	p, err := s.actor(who)
	stack := s.stack(p.ID)
	if err == nil && len(stack) == 0 {
		err = fmt.Errorf("%s sees no modal", who)
	}
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	v := stack[len(stack)-1]
	if missing := missing(v); len(missing) > 0 {
		v.Errors = missing
		defer s.mu.Unlock()
		return v.copy(), nil
	}
	o := s.interaction("view_submission", p)
	o["view"], o["response_urls"] = v.object(), []any{}
	s.mu.Unlock()
	r := s.interact(ctx, o)
	s.mu.Lock()
	s.submitted(v, r)
	err = s.save()
	s.mu.Unlock()
	return s.Modal(who), err
}

// missing names a view's required fields without a value.
func missing(v *View) map[string]string {
	list := map[string]string{}
	for _, b := range decode(v.Blocks) {
		if str(b, "type") != "input" || b["optional"] == true {
			continue
		}
		e, _ := b["element"].(object)
		if empty(v.State[str(b, "block_id")][str(e, "action_id")]) {
			list[str(b, "block_id")] = "Please complete this required field."
		}
	}
	return list
}

// CloseView closes the modal that a person sees.
func (s *Server) CloseView(ctx context.Context, who string) error {
	s.mu.Lock()
	p, err := s.actor(who)
	stack := s.stack(p.ID)
	if err != nil || len(stack) == 0 {
		s.mu.Unlock()
		return err
	}
	v := stack[len(stack)-1]
	s.closeViews(func(other *View) bool { return other == v || v.ClearOnClose && other.Person == p.ID })
	o := s.interaction("view_closed", p)
	delete(o, "trigger_id")
	o["view"], o["is_cleared"] = v.object(), v.ClearOnClose
	err = s.save()
	s.mu.Unlock()
	if v.Notify && err == nil {
		s.interact(ctx, o)
	}
	return err
}

// OpenHome opens the App Home. The app gets an event, and may publish the view that Home returns then.
func (s *Server) OpenHome(ctx context.Context, who string) error {
	return s.happen(ctx, func() object {
		p := must.Get(s.actor(who))
		c, _ := s.openDirect(p.ID)
		_, now := s.stamp()
		event := object{"type": "app_home_opened", "user": p.ID, "channel": c.ID, "tab": "home", "event_ts": now}
		if v := s.world.Homes[p.ID]; v != nil {
			event["view"] = v.object()
		}
		return event
	})
}

// Shortcut is a shortcut of the app.
type Shortcut struct {
	Callback, Name string
	Message        bool // it is in a message's menu
}

// Shortcuts are those in the app's settings.
var Shortcuts = []Shortcut{{"ocp_create", "Create a cluster", false}, {"ocp_clusters", "My clusters", false}, {"ocp_create_message", "Create a cluster", true}}

// UseShortcut uses a shortcut by its callback id. Message is the timestamp of the message in whose menu it is; empty: it is a global
// shortcut.
func (s *Server) UseShortcut(ctx context.Context, who, callback, message string) error {
	s.mu.Lock()
	p, err := s.actor(who)
	if err != nil {
		s.mu.Unlock()
		return err
	}
	o := s.interaction("shortcut", p)
	_, o["action_ts"] = s.stamp()
	if message != "" {
		f, err := s.surface(p, message)
		if err != nil || f.message == nil {
			s.mu.Unlock()
			return fmt.Errorf("%s sees no message %s", who, message)
		}
		o["type"], o["message_ts"], o["message"] = "message_action", message, f.message.object()
		o["channel"] = object{"id": f.channel.ID, "name": f.channel.spoken()}
		o["response_url"] = s.newHook("app", p.ID, f.channel.ID, message)
	}
	o["callback_id"] = callback
	s.mu.Unlock()
	if r := s.interact(ctx, o); r.code != "" {
		return fmt.Errorf("%s: the app did not respond as it must: %s (status %d)", callback, r.code, r.status)
	}
	return nil
}
