package inbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrTooLong says that somebody typed more than a command can have. The request is returned with it, without the text.
var ErrTooLong = errors.New("the text is longer than " + strconv.Itoa(MaxText) + " characters")

// MaxText is the most characters that a command, or a field of a form, can have. Slack's own fields end at 3,000.
const MaxText = 4000

// Other limits. Slack has the same or lower ones: https://docs.slack.dev/reference/block-kit/blocks
const (
	maxName     = 128 // of ids that are not objects' ids, and of display names
	maxAction   = 255 // action_id, block_id, callback_id
	maxMetadata = 3000
	maxFields   = 100 // of a form
)

const form = "application/x-www-form-urlencoded"

// Decode reads one request: an event or the payload of a Socket Mode envelope (JSON), a slash command (form), an interaction (JSON in a
// form's payload), or Slack's certificate check (form). contentType is that of the body; where it says neither JSON nor form, the body's
// first character decides.
//
// An error says which field is wrong. Nothing that Slack sends itself causes one, except ErrTooLong.
func Decode(contentType string, body []byte) (Request, error) {
	media, _, _ := mime.ParseMediaType(contentType) // empty if it is none
	if media == "application/json" || media != form && bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return decodeJSON(body)
	}
	values, err := url.ParseQuery(string(body))
	switch {
	case err != nil:
		return Request{}, errors.New("the body is neither JSON nor a form")
	case values.Has("payload"):
		return decodeJSON([]byte(values.Get("payload")))
	case values.Has("ssl_check"):
		return Request{Kind: Handshake, Event: "ssl_check"}, nil
	}
	return slashCommand{
		Command: values.Get("command"), Team: values.Get("team_id"), Enterprise: values.Get("enterprise_id"), Channel: values.Get("channel_id"),
		User: values.Get("user_id"), Name: values.Get("user_name"), Text: values.Get("text"), Trigger: values.Get("trigger_id"),
	}.toRequest()
}

// decodeJSON reads an event, an interaction, or a command from a socket.
func decodeJSON(body []byte) (Request, error) {
	var head struct {
		Type      string `json:"type"`
		Command   string `json:"command"`
		Challenge string `json:"challenge"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return Request{}, fmt.Errorf("the body is not valid JSON: %w", err)
	}
	switch {
	case head.Type == "" && head.Command != "":
		var c slashCommand
		if err := json.Unmarshal(body, &c); err != nil {
			return Request{}, fmt.Errorf("a field of the command is not text: %w", err)
		}
		return c.toRequest()
	case head.Type == "url_verification":
		return Request{Kind: Handshake, Event: head.Type, Response: head.Challenge}, nil
	case head.Type == "event_callback":
		return decodeEvent(body)
	case !isIdentifier(head.Type, maxName):
		return Request{}, errors.New("the body has no type, so it is no event, command or interaction of Slack's")
	}
	return decodeInteraction(head.Type, body)
}

// Stored reads a request that Encode made.
func Stored(raw []byte) (Request, error) {
	var r Request
	if err := json.Unmarshal(raw, &r); err != nil {
		return Request{}, fmt.Errorf("read a stored request: %w", err)
	}
	if r.Kind == "" || r.ID == "" || r.Workspace == "" {
		return Request{}, errors.New("read a stored request: kind, id and workspace are required")
	}
	return r, nil
}

// slashCommand is a command as Slack sends it: https://docs.slack.dev/interactivity/implementing-slash-commands
type slashCommand struct {
	Command    string `json:"command"`
	Team       string `json:"team_id"`
	Enterprise string `json:"enterprise_id"`
	Channel    string `json:"channel_id"`
	User       string `json:"user_id"`
	Name       string `json:"user_name"`
	Text       string `json:"text"`
	Trigger    string `json:"trigger_id"`
}

func (c slashCommand) toRequest() (Request, error) {
	if c.Command == "" {
		return Request{}, errors.New("command is missing, so the body is no event, command or interaction of Slack's")
	}
	r := Request{
		Kind: Command, ID: c.Trigger, Trigger: c.Trigger, Workspace: c.Team, Org: c.Enterprise, Channel: c.Channel, User: c.User,
		Name: shortenName(c.Name), Text: cleanText(c.Text),
	}
	if err := r.checkIDs("team_id", "user_id", "channel_id", "trigger_id"); err != nil {
		return Request{}, err
	}
	if isTooLong(r.Text) {
		r.Text = ""
		return r, ErrTooLong
	}
	return r, nil
}

// objectID matches the ids of workspaces, organizations, channels, people and views: https://docs.slack.dev/reference/objects
var objectID = regexp.MustCompile(`^[A-Z0-9]{2,32}$`)

// checkIDs checks the ids, whose fields Slack names so. The person's and the channel's may be missing where no field is named.
func (r Request) checkIDs(team, user, channel, id string) error {
	for _, f := range []struct {
		name, value string
		optional    bool
	}{
		{team, r.Workspace, false}, {user, r.User, user == ""}, {channel, r.Channel, channel == ""},
		{"enterprise", r.Org, true}, {"the person's team", r.HomeTeam, true}, {"the subject", r.Subject, true},
	} {
		if f.value == "" && f.optional || objectID.MatchString(f.value) {
			continue
		}
		return fmt.Errorf("%s is %s; a Slack id such as U012AB3CD is expected", orWhat(f.name), quoteValue(f.value))
	}
	if !isIdentifier(r.ID, maxName) || r.Trigger != "" && !isIdentifier(r.Trigger, maxName) {
		return fmt.Errorf("%s is missing, or is not at most %d printable characters", id, maxName)
	}
	return nil
}

func orWhat(field string) string {
	if field == "" {
		return "an id"
	}
	return field
}

func quoteValue(value string) string {
	if value == "" {
		return "missing"
	}
	return "not an id"
}

// isIdentifier reports whether s is an identifier of one to most printable ASCII characters.
func isIdentifier(s string, most int) bool {
	return s != "" && len(s) <= most && strings.IndexFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
}

// cleanText removes from a text, which an answer or the audit trail may quote, what PostgreSQL cannot store.
func cleanText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// shortenName returns a display name, cut where it is too long.
func shortenName(text string) string {
	runes := []rune(cleanText(text))
	return string(runes[:min(len(runes), maxName)])
}

// cutText returns a text that others wrote, cut where it is longer than a command can be.
func cutText(text string) string {
	runes := []rune(cleanText(text))
	return string(runes[:min(len(runes), MaxText)])
}

func isTooLong(text string) bool { return utf8.RuneCountInString(text) > MaxText }

// parseStamp parses a message's timestamp, e.g. 1710000000.000100; 0: it is none.
func parseStamp(stamp string) int64 {
	whole, part, ok := strings.Cut(stamp, ".")
	seconds, err := strconv.ParseUint(whole, 10, 40)
	rest, partErr := strconv.ParseUint(part, 10, 20)
	if !ok || err != nil || partErr != nil || len(part) != 6 {
		return 0
	}
	return int64(seconds)*1_000_000 + int64(rest)
}
