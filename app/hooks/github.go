package hooks

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ocpctl/ocpctl/store"
)

// SourceGitHub and SourceSlack name where a delivery came from.
const (
	SourceGitHub = "github"
	SourceSlack  = "slack"
)

// Received answers a webhook.
type Received struct {
	Delivery string `json:"delivery"`
	State    string `json:"state"` // accepted (stored, now or before), ignored (not stored) or pong
	Detail   string `json:"detail,omitempty"`
}

const (
	maxName       = 128 // of a delivery id or an event
	signatureHead = "sha256="
)

// gitHub takes one webhook of GitHub. Order matters: nothing is looked into before the signature held.
func (d *door) gitHub(w http.ResponseWriter, r *http.Request, body []byte) {
	if !Signed(d.github, body, r.Header.Get("X-Hub-Signature-256")) {
		problem(w, http.StatusUnauthorized, "X-Hub-Signature-256 is missing or does not fit the body. "+
			"Check that the webhook's secret is the server's.")
		return
	}
	id, event := r.Header.Get("X-GitHub-Delivery"), r.Header.Get("X-GitHub-Event")
	if !named(id) || !named(event) {
		problem(w, http.StatusBadRequest, "X-GitHub-Delivery and X-GitHub-Event are needed, each of at most "+
			"128 printable characters.")
		return
	}
	if !object(body) {
		problem(w, http.StatusBadRequest, "The body is not a JSON object. Set the webhook's content type to application/json.")
		return
	}
	switch event {
	case "pull_request", "issue_comment":
		d.keep(w, r, store.Delivery{Source: SourceGitHub, ID: id, Event: event, Topic: topic(event, body), Body: body})
	case "ping":
		answer(w, http.StatusOK, Received{Delivery: id, State: "pong"})
	default:
		answer(w, http.StatusAccepted, Received{Delivery: id, State: "ignored",
			Detail: fmt.Sprintf("ocpctl does not listen to %s; nothing was stored.", event)})
	}
}

// topic names the pull request an event is about, so that its events are worked in the order they came in. What is of an
// odd shape is about nothing; the worker says so.
func topic(event string, body []byte) string {
	number := "number" // stands at the top of a pull_request event
	if event == "issue_comment" {
		number = "issue.number"
	}
	return fmt.Sprintf("%s#%d", gjson.GetBytes(body, "repository.full_name").String(), gjson.GetBytes(body, number).Int())
}

// keep stores a delivery before it answers. A second delivery of the same id is answered as the first was.
func (d *door) keep(w http.ResponseWriter, r *http.Request, delivery store.Delivery) {
	fresh, err := d.store.SaveDelivery(r.Context(), delivery)
	if err != nil {
		d.failed(w, delivery.ID, err)
		return
	}
	d.log.Debug("delivery stored", "delivery", delivery.ID, "source", delivery.Source, "event", delivery.Event, "fresh", fresh)
	answer(w, http.StatusAccepted, Received{Delivery: delivery.ID, State: "accepted"})
}

// Signed reports whether header is the sha256 signature of body under key, compared in constant time.
func Signed(key, body []byte, header string) bool {
	given, ok := strings.CutPrefix(header, signatureHead)
	if !ok || len(key) == 0 {
		return false
	}
	sent, err := hex.DecodeString(given)
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return hmac.Equal(mac.Sum(nil), sent)
}

// object reports whether body is one JSON object.
func object(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) && gjson.ValidBytes(body)
}

func named(s string) bool {
	return s != "" && len(s) <= maxName && strings.IndexFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
}
