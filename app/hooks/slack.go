package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/chatops"
	wire "github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// slashCommand is the only kind of Slack request that is processed.
const slashCommand = "slash_command"

// slackEntrance is the endpoint for Slack's requests: signature and timestamp are checked first.
func (h *handler) slackEntrance() entrance {
	signed := func(header http.Header, body []byte) bool {
		verifier, err := slack.NewSecretsVerifier(header, h.slack)
		if err != nil {
			return false
		}
		_, _ = verifier.Write(body) // a hash never fails
		return verifier.Ensure() == nil
	}
	formed := func(header http.Header) bool {
		_, err := slack.NewSecretsVerifier(header, h.slack)
		return err == nil
	}
	return entrance{
		size: MaxSlackBody, take: h.slackRequest, signed: signed, formed: formed,
		refusal: "X-Slack-Signature or X-Slack-Request-Timestamp is missing, does not match the body, or is older than five minutes. " +
			"Check the signing secret and the clock.",
	}
}

// slackRequest handles one signed request from Slack: it is stored before it is answered.
func (h *handler) slackRequest(w http.ResponseWriter, r *http.Request, body []byte) {
	call, ok := readSlack(body)
	switch {
	case !ok:
		problem(w, http.StatusBadRequest, "The body is not a Slack event, command or interaction.")
	case call.Type == "url_verification":
		answer(w, http.StatusOK, map[string]string{"challenge": call.Challenge})
	case call.Type == slashCommand:
		h.slashCommand(w, r, call.form)
	default:
		answer(w, http.StatusOK, Received{Delivery: call.EventID, State: "ignored",
			Detail: fmt.Sprintf("ocpctl does not listen to %s; nothing was stored.", call.Type)})
	}
}

// slackCall is what the three formats of Slack's requests have in common.
type slackCall struct {
	Type      string `json:"type"`
	Challenge string `json:"challenge"`
	EventID   string `json:"event_id"`
	form      url.Values
}

// readSlack decodes an event (JSON), a slash command (form), an interaction (JSON in a form's payload) and Slack's certificate check
// (form).
func readSlack(body []byte) (call slackCall, ok bool) {
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) {
		return call, json.Unmarshal(body, &call) == nil && named(call.Type)
	}
	form, err := url.ParseQuery(string(body))
	switch {
	case err != nil:
		return call, false
	case form.Has("payload"):
		return call, json.Unmarshal([]byte(form.Get("payload")), &call) == nil && named(call.Type)
	case form.Has("ssl_check"):
		return slackCall{Type: "ssl_check"}, true
	}
	return slackCall{Type: slashCommand, form: form}, form.Get("command") != ""
}

// slackID matches the ids of workspaces, channels and users: https://docs.slack.dev/reference/objects
var slackID = regexp.MustCompile(`^[A-Z0-9]{2,32}$`)

// kept are the fields of a command that are stored. Two secrets are not among them: the token, which identified Slack's requests
// before there were signatures, and the response_url, which lets anybody write in the channel for half an hour.
var kept = []string{"team_id", "channel_id", "user_id", "user_name", "command", "text", "trigger_id"}

// slashCommand stores a command and tells the person how it was understood.
func (h *handler) slashCommand(w http.ResponseWriter, r *http.Request, form url.Values) {
	for _, field := range []string{"team_id", "channel_id", "user_id"} {
		if !slackID.MatchString(form.Get(field)) {
			problem(w, http.StatusBadRequest, "A command needs team_id, channel_id and user_id, each a Slack id such as U012AB3CD; "+field+" is not one.")
			return
		}
	}
	if workspace := form.Get("team_id"); len(h.workspaces) > 0 && !slices.Contains(h.workspaces, workspace) {
		h.log.WarnContext(r.Context(), "slack workspace refused", "workspace", workspace)
		answer(w, http.StatusOK, map[string]string{"response_type": "ephemeral", "text": "ocpctl does not listen to this workspace; nothing was stored."})
		return
	}
	id := form.Get("trigger_id")
	if !named(id) {
		problem(w, http.StatusBadRequest, "A command needs a trigger_id of at most 128 printable characters.")
		return
	}
	stored := url.Values{}
	for _, field := range kept {
		stored.Set(field, form.Get(field))
	}
	delivery := inbox.Delivery{
		Source: SourceSlack, ID: id, Event: slashCommand, Body: []byte(stored.Encode()),
		Topic: SourceSlack + ":" + form.Get("team_id") + "/" + form.Get("user_id"), // a person's commands are processed in order
	}
	fresh, err := h.store.Inbox.SaveDelivery(r.Context(), delivery)
	if err != nil {
		h.failed(w, r, id, err)
		return
	}
	h.log.DebugContext(r.Context(), "delivery stored", "delivery", id, "correlation", id, "source", SourceSlack, "event", slashCommand, "fresh", fresh)
	answer(w, http.StatusOK, map[string]string{"response_type": "ephemeral", "text": wire.Text(chatops.SlackGot(form.Get("text")))})
}

// slack processes a stored command.
func (w *InboxWorker) slack(ctx context.Context, d inbox.Delivery) (string, error) {
	if d.Event != slashCommand {
		return "not a request ocpctl listens to", nil
	}
	form, err := url.ParseQuery(string(d.Body))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnprocessable, err)
	}
	e := inbound.Request{
		Kind: inbound.Command, ID: d.ID, Workspace: form.Get("team_id"), Channel: form.Get("channel_id"), User: form.Get("user_id"),
		Name: printable(form.Get("user_name")), Text: printable(form.Get("text")),
	}
	if e.Workspace == "" || e.Channel == "" || e.User == "" {
		return "", fmt.Errorf("%w: team_id, channel_id and user_id are required", errUnprocessable)
	}
	return w.inSlack.Handle(ctx, e)
}

// printable removes from a text, which an answer or the audit trail may quote, what PostgreSQL cannot store.
func printable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}
