package inbound

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// interaction is a press, a form, or a shortcut as Slack sends it. https://docs.slack.dev/reference/interaction-payloads
type interaction struct {
	Team       *struct{ ID string } `json:"team"` // null: the app is installed in a whole organization
	Enterprise *struct{ ID string } `json:"enterprise"`
	User       struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Username string `json:"username"`
		Team     string `json:"team_id"`
	} `json:"user"`
	Channel   struct{ ID string } `json:"channel"`
	Container struct {
		Message string `json:"message_ts"`
		Thread  string `json:"thread_ts"`
		Channel string `json:"channel_id"`
	} `json:"container"`
	Message struct {
		Stamp string  `json:"ts"`
		Text  anyText `json:"text"`
	} `json:"message"`
	View     *view     `json:"view"`
	Actions  []element `json:"actions"`
	Callback string    `json:"callback_id"`
	ActionAt string    `json:"action_ts"`
	Trigger  string    `json:"trigger_id"`
}

type view struct {
	ID        string `json:"id"`
	Type      string `json:"type"` // modal or home
	Hash      string `json:"hash"`
	Callback  string `json:"callback_id"`
	Metadata  string `json:"private_metadata"`
	Installed string `json:"app_installed_team_id"`
	State     struct {
		Values map[string]map[string]element `json:"values"`
	} `json:"state"`
}

// element is a button, or a field with what is entered or chosen in it.
type element struct {
	ActionID string  `json:"action_id"`
	Type     string  `json:"type"`
	ActionAt string  `json:"action_ts"`
	Value    anyText `json:"value"`

	Option        *option  `json:"selected_option"`
	Options       []option `json:"selected_options"`
	User          string   `json:"selected_user"`
	Users         []string `json:"selected_users"`
	Channel       string   `json:"selected_channel"`
	Channels      []string `json:"selected_channels"`
	Conversation  string   `json:"selected_conversation"`
	Conversations []string `json:"selected_conversations"`
	Date          string   `json:"selected_date"`
	Time          string   `json:"selected_time"`
}

type option struct {
	Value string `json:"value"`
}

// anyText is a text; what is no text counts as empty.
type anyText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *anyText) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*t = anyText(text)
	}
	return nil
}

// valueOf returns what is entered or chosen; several values are joined by commas.
func (e element) valueOf() string {
	values := []string{string(e.Value), e.User, e.Channel, e.Conversation, e.Date, e.Time}
	if e.Option != nil {
		values = append(values, e.Option.Value)
	}
	for _, o := range e.Options {
		values = append(values, o.Value)
	}
	values = append(append(append(values, e.Users...), e.Channels...), e.Conversations...)
	var filled []string
	for _, v := range values {
		if v != "" {
			filled = append(filled, cleanText(v))
		}
	}
	return strings.Join(filled, ",")
}

func decodeInteraction(kind string, body []byte) (Request, error) {
	var i interaction
	switch kind {
	case "block_actions", "view_submission", "shortcut", "message_action":
	default: // view_closed, block_suggestion and what ocpctl does not know
		return Request{Kind: Ignored, Event: kind}, nil
	}
	if err := json.Unmarshal(body, &i); err != nil {
		return Request{}, fmt.Errorf("the interaction is not one of Slack's: %w", err)
	}
	r, err := i.toRequest()
	if err != nil {
		return Request{}, err
	}
	switch kind {
	case "block_actions":
		return i.readPress(r)
	case "view_submission":
		if i.View == nil {
			return Request{}, errors.New("view is missing")
		}
		r.Kind, r.ID = Submission, i.View.ID+":"+i.View.Hash // the same form submitted again, because its answer was lost, is one submission
		return r, r.checkIDs("team", "user.id", "", "view.hash")
	}
	r.Kind, r.ID, r.Action = Shortcut, joinIDs(i.Trigger, i.ActionAt), i.Callback
	if kind == "message_action" {
		r.Channel, r.Message, r.Text = i.Channel.ID, parseStamp(i.Message.Stamp), cutText(string(i.Message.Text))
	}
	if !isIdentifier(r.Action, maxAction) {
		return Request{}, fmt.Errorf("callback_id is missing, or is not at most %d printable characters", maxAction)
	}
	return r, r.checkIDs("team", "user.id", "", "trigger_id")
}

// toRequest returns what all interactions have in common.
func (i interaction) toRequest() (r Request, err error) {
	r = Request{User: i.User.ID, Name: shortenName(cmp.Or(i.User.Username, i.User.Name)), Trigger: i.Trigger}
	if i.Enterprise != nil {
		r.Org = i.Enterprise.ID
	}
	switch {
	case i.View != nil && strings.HasPrefix(i.View.Installed, "T"):
		r.Workspace = i.View.Installed
	case i.Team != nil:
		r.Workspace = i.Team.ID
	default:
		r.Workspace = i.User.Team
	}
	r.HomeTeam = otherWorkspace(i.User.Team, r.Workspace, r.Org)
	if strings.HasPrefix(r.HomeTeam, "E") && r.Org == "" {
		r.HomeTeam = "" // the organization, which Slack did not name otherwise
	}
	if i.View != nil {
		r.View, err = i.View.readView()
	}
	return r, err
}

// readPress reads a press of a button, or a change of a form's field. Slack sends one action at a time.
func (i interaction) readPress(r Request) (Request, error) {
	if len(i.Actions) == 0 {
		return Request{}, errors.New("actions is empty")
	}
	a := i.Actions[0]
	r.Kind, r.ID, r.Action, r.Value = Press, joinIDs(i.Trigger, a.ActionAt), a.ActionID, a.valueOf()
	if i.View != nil && i.View.Type == "modal" && a.Type != "button" {
		r.Kind = Change
	}
	r.Channel = cmp.Or(i.Container.Channel, i.Channel.ID)
	r.Message, r.Thread = parseStamp(cmp.Or(i.Container.Message, i.Message.Stamp)), parseStamp(i.Container.Thread)
	switch {
	case !isIdentifier(r.Action, maxAction):
		return Request{}, fmt.Errorf("actions[0].action_id is missing, or is not at most %d printable characters", maxAction)
	case isTooLong(r.Value):
		return Request{}, fmt.Errorf("actions[0]: %w", ErrTooLong)
	}
	return r, r.checkIDs("team", "user.id", "", "trigger_id")
}

// readView returns the view with what is entered in it.
func (v view) readView() (*View, error) {
	out := &View{ID: v.ID, Hash: v.Hash, Callback: v.Callback, Metadata: cleanText(v.Metadata)}
	switch {
	case !objectID.MatchString(v.ID), v.Hash != "" && !isIdentifier(v.Hash, maxName), v.Callback != "" && !isIdentifier(v.Callback, maxAction):
		return nil, errors.New("view.id, view.hash or view.callback_id is not one of Slack's")
	case len([]rune(out.Metadata)) > maxMetadata:
		return nil, fmt.Errorf("view.private_metadata is longer than %d characters", maxMetadata)
	}
	fields := 0
	for block, actions := range v.State.Values {
		for action, e := range actions {
			value := e.valueOf()
			if fields++; fields > maxFields || !isIdentifier(block, maxAction) || !isIdentifier(action, maxAction) || isTooLong(value) {
				return nil, fmt.Errorf("view.state has more than %d fields, an unreadable name, or a value of more than %d characters", maxFields, MaxText)
			}
			if out.Values == nil {
				out.Values = map[string]map[string]string{}
			}
			if out.Values[block] == nil {
				out.Values[block] = map[string]string{}
			}
			out.Values[block][action] = value
		}
	}
	return out, nil
}

// joinIDs makes one id of two parts; empty if the first is missing.
func joinIDs(id, part string) string {
	if id == "" || part == "" {
		return id
	}
	return id + "/" + part
}
