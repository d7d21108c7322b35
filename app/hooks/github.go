package hooks

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/ocpctl/ocpctl/store"
)

// Where a delivery came from: GitHub, Slack, or our own look at GitHub.
const (
	SourceGitHub = "github"
	SourceSlack  = "slack"
	SourceSweep  = "sweep"
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
	if !d.signed(body, r.Header.Get("X-Hub-Signature-256")) {
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
	if event == onPing {
		answer(w, http.StatusOK, Received{Delivery: id, State: "pong"})
		return
	}
	in := gjson.ParseBytes(body)
	if why := d.idle(event, in); why != "" {
		answer(w, http.StatusAccepted, Received{Delivery: id, State: "ignored", Detail: why + "; nothing was stored."})
		return
	}
	d.keep(w, r, store.Delivery{Source: SourceGitHub, ID: id, Event: event, Topic: topic(event, in), Body: body})
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

// signed reports whether the body is signed with the secret, or with the next one while there are two. Both are always compared.
func (d *door) signed(body []byte, header string) bool {
	now, next := Signed(d.github, body, header), Signed(d.next, body, header)
	return now || next
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

// object reports whether body is one JSON object, of a depth that can be read: gjson's own look at it has no bound, and takes the
// whole process down with it.
func object(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) && json.Valid(body)
}

func named(s string) bool {
	return s != "" && len(s) <= maxName && strings.IndexFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
}
