// Package inbound reads what Slack sends: slash commands, events and interactions, over HTTP or a socket. It keeps the fields that are
// processed and drops the secrets: the verification token and every response_url.
//
// It must never do anything: it turns bytes into values, whatever the bytes are.
package inbound

import "encoding/json"

// Kind says what somebody did in Slack.
type Kind string

// The kinds of requests. All but Handshake and Ignored are stored before they are answered.
const (
	Command    Kind = "command"     // typed /ocp …
	Mention    Kind = "mention"     // wrote @ocpctl … in a channel
	Direct     Kind = "direct"      // wrote to the bot alone
	Press      Kind = "press"       // pressed a button, or chose from a menu, in a message or on Home
	Change     Kind = "change"      // changed a field of a form that says so
	Submission Kind = "submission"  // submitted a form
	Shortcut   Kind = "shortcut"    // used a global or message shortcut
	HomeOpened Kind = "home_opened" // opened the App Home
	Lifecycle  Kind = "lifecycle"   // something happened to the app, a channel or a person: see Event
	Handshake  Kind = "handshake"   // url_verification and ssl_check: answered, never stored
	Ignored    Kind = "ignored"     // nothing that ocpctl listens to
)

// Request is one request from Slack without its secrets. Ids are Slack's: T… a workspace, E… an organization, C…, G… or D… a channel,
// U… or W… a person.
type Request struct {
	Kind Kind   `json:"kind"`
	ID   string `json:"id"` // unique: the trigger's, event's or view's id; a repeated request has the same

	Workspace string `json:"workspace"`
	Org       string `json:"org,omitempty"`     // the Enterprise Grid organization; empty: none
	Channel   string `json:"channel,omitempty"` // where it was done; empty: nowhere, e.g. on Home
	User      string `json:"user"`
	HomeTeam  string `json:"home_team,omitempty"` // the person's own workspace if another one, as with Slack Connect
	Name      string `json:"name,omitempty"`      // for display only: it may change hands

	Text    string `json:"text,omitempty"`    // of a command, mention or direct message, without the bot's own mention; of a message shortcut: the message's, cut to MaxText characters
	Trigger string `json:"trigger,omitempty"` // opens a form within three seconds; empty: it cannot
	Thread  int64  `json:"thread,omitempty"`  // of a mention, direct message or press: the message in whose thread it was, microseconds; 0: in none

	Action   string `json:"action,omitempty"`  // of a press or change: its action_id; of a shortcut: its callback_id
	Value    string `json:"value,omitempty"`   // of a press or change: the button's value, or what was chosen; of channel_id_changed: the new id
	Message  int64  `json:"message,omitempty"` // of a press or message shortcut: the message, microseconds; 0: none
	Event    string `json:"event,omitempty"`   // of Lifecycle: Slack's name of it, e.g. channel_archive
	Subject  string `json:"subject,omitempty"` // of Lifecycle: the channel or person that it happened to
	View     *View  `json:"view,omitempty"`    // of a change, submission, or press on Home
	Response string `json:"-"`                 // of a Handshake: the challenge
}

// View is a form or Home as it was when somebody did something in it.
type View struct {
	ID       string                       `json:"id"`
	Hash     string                       `json:"hash"`
	Callback string                       `json:"callback"`           // its callback_id
	Metadata string                       `json:"metadata,omitempty"` // its private_metadata
	Values   map[string]map[string]string `json:"values,omitempty"`   // block_id → action_id → what is entered or chosen; several are joined by commas
}

// Encode returns the request as it is stored.
func (r Request) Encode() []byte {
	raw, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings alone
	}
	return raw
}
