package hooks

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/store"
)

// SlackNotConnected is what Slack is told until its commands work.
const SlackNotConnected = "Slack is not connected yet: your request was stored and nothing was done. " +
	"Label a pull request with ocp/<profile>, or comment /ocp help on it."

// slackRequest takes one request of Slack: signature and timestamp first, stored before it is answered.
func (d *door) slackRequest(w http.ResponseWriter, r *http.Request, body []byte) {
	verifier, err := slack.NewSecretsVerifier(r.Header, d.slack)
	if err == nil {
		_, _ = verifier.Write(body) // a hash never fails
		err = verifier.Ensure()
	}
	if err != nil {
		problem(w, http.StatusUnauthorized, "X-Slack-Signature or X-Slack-Request-Timestamp is missing, does not fit the body "+
			"or is older than five minutes. Check the signing secret and the clock.")
		return
	}
	call, ok := readSlack(body)
	if !ok {
		problem(w, http.StatusBadRequest, "The body is neither an event nor a command nor an interaction of Slack.")
		return
	}
	if call.Type == "url_verification" {
		answer(w, http.StatusOK, map[string]string{"challenge": call.Challenge})
		return
	}
	if !named(call.id()) {
		problem(w, http.StatusBadRequest, "An event_id or a trigger_id is needed.")
		return
	}
	_, err = d.store.SaveDelivery(r.Context(), store.Delivery{Source: SourceSlack, ID: call.id(), Event: call.Type, Body: body})
	if err != nil {
		d.failed(w, call.id(), err)
		return
	}
	answer(w, http.StatusOK, map[string]string{"response_type": "ephemeral", "text": SlackNotConnected})
}

// slackCall is what the three shapes of Slack's requests have in common.
type slackCall struct {
	Type      string `json:"type"`
	Challenge string `json:"challenge"`
	EventID   string `json:"event_id"`
	TriggerID string `json:"trigger_id"`
}

func (c slackCall) id() string {
	if c.EventID != "" {
		return c.EventID
	}
	return c.TriggerID
}

// readSlack knows an event (JSON), a slash command (form) and an interaction (JSON in a form's payload).
func readSlack(body []byte) (call slackCall, ok bool) {
	if object(body) {
		return call, json.Unmarshal(body, &call) == nil && named(call.Type)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return call, false
	}
	if payload := form.Get("payload"); payload != "" {
		return call, json.Unmarshal([]byte(payload), &call) == nil && named(call.Type)
	}
	call = slackCall{Type: "slash_command", TriggerID: form.Get("trigger_id")}
	return call, form.Get("command") != ""
}
