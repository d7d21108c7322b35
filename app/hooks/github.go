package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/app/hooks/guard"
	"github.com/ocpctl/ocpctl/internal/source"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// The sources of deliveries: GitHub, Slack, or our own polling of GitHub.
const (
	SourceGitHub = "github"
	SourceSlack  = "slack"
	SourcePoll   = "poll"
)

// Received is the response to a webhook.
type Received struct {
	Delivery string `json:"delivery"`
	State    string `json:"state"` // accepted (stored, now or before), ignored (not stored) or pong
	Detail   string `json:"detail,omitempty"`
}

const (
	maxName         = 128 // length of a delivery id or event
	signatureHeader = "X-Hub-Signature-256"
	signatureHead   = "sha256="
)

var signatureForm = regexp.MustCompile(`^sha256=[0-9A-Fa-f]{64}$`)

// gitHubEntrance is the endpoint for GitHub's webhooks. Nothing is parsed before the signature was verified.
func (h *handler) gitHubEntrance(addresses source.Networks) guard.Entrance {
	e := guard.Entrance{
		MaxBody: MaxGitHubBody, Take: h.gitHub,
		IsFormed: func(header http.Header) bool { return signatureForm.MatchString(header.Get(signatureHeader)) },
		IsSigned: func(header http.Header, body []byte) bool { return h.isSigned(body, header.Get(signatureHeader)) },
		Refusal:  "X-Hub-Signature-256 is missing or does not match the body. Check that the webhook has the same secret as the server.",
	}
	if len(addresses) > 0 {
		e.Admits = addresses.Contain
	}
	return e
}

// gitHub handles one signed webhook from GitHub.
func (h *handler) gitHub(w http.ResponseWriter, r *http.Request, body []byte) {
	id, event := r.Header.Get("X-GitHub-Delivery"), r.Header.Get("X-GitHub-Event")
	if !isValidName(id) || !isValidName(event) {
		guard.WriteProblem(w, http.StatusBadRequest, "X-GitHub-Delivery and X-GitHub-Event are required, each with at most "+
			"128 printable characters.")
		return
	}
	p, err := decodeBody(event, body)
	_, known := h.events[event]
	switch {
	case errors.Is(err, errNotJSON):
		guard.WriteProblem(w, http.StatusBadRequest, "The body is not a JSON object. Set the webhook's content type to application/json.")
		return
	case event == onPing:
		writeAnswer(w, http.StatusOK, Received{Delivery: id, State: "pong"})
		return
	case known && err != nil:
		h.refuseMismatch(w, r, inbox.Delivery{ID: id, Event: event, Body: body}, err)
		return
	}
	why := whyUnhandled(h.events, event, p.Action)
	if why == "" {
		if err := p.checkShape(event); err != nil {
			h.refuseMismatch(w, r, inbox.Delivery{ID: id, Event: event, Topic: topicOf(event, p), Body: body, Installation: p.Installation.ID}, err)
			return
		}
		h.countUndescribed(r, id, event, p)
		why = h.whyNoEffect(event, p)
	}
	if why == "" && aboutRun(event) {
		job := ""
		if event == onJob {
			job = strconv.FormatInt(p.WorkflowJob.ID, 10)
		}
		known, err := h.store.Runs.Known(r.Context(), lifecycle.GitHub, strconv.FormatInt(p.Repository.ID, 10), strconv.FormatInt(p.runID(), 10), job)
		switch {
		case err != nil:
			h.answerFailure(w, r, id, err)
			return
		case !known:
			why = "no cluster and no turn belongs to it"
		}
	}
	if why != "" {
		writeAnswer(w, http.StatusAccepted, Received{Delivery: id, State: "ignored", Detail: why + "; nothing was stored."})
		return
	}
	h.storeDelivery(w, r, inbox.Delivery{Source: SourceGitHub, ID: id, Event: event, Topic: topicOf(event, p), Body: body, Installation: p.Installation.ID})
}

// refuseMismatch refuses a signed body that does not match its event, and keeps it: GitHub may have changed its events, and then a person has to see
// what was lost. The response is the same if it cannot be kept, and GitHub's own list of deliveries shows it.
func (h *handler) refuseMismatch(w http.ResponseWriter, r *http.Request, d inbox.Delivery, err error) {
	reason := mismatchReason(err)
	h.counts.CountRefused(string(reason))
	log := h.log.With("delivery", d.ID, "correlation", d.ID, "event", d.Event, "reason", reason)
	log.WarnContext(r.Context(), "webhook refused", "err", err)
	d.Source = SourceGitHub
	kept := "It is not processed. It is kept with the failed deliveries, for an administrator."
	if failed := h.store.Inbox.KeepRefused(r.Context(), d, reason, err.Error()); failed != nil {
		log.ErrorContext(r.Context(), "refused webhook not kept", "err", failed)
		kept = "It is not processed."
	}
	guard.WriteProblem(w, http.StatusUnprocessableEntity, "X-GitHub-Event says "+d.Event+", and "+err.Error()+". "+kept)
}

// countUndescribed counts a body with names that GitHub's description of its event does not have. They are not read.
func (h *handler) countUndescribed(r *http.Request, id, event string, p webhook) {
	if names := p.fieldsNotDescribed(event); len(names) > 0 {
		h.counts.CountUndescribed(event)
		h.log.InfoContext(r.Context(), "webhook has fields that its event is not described with", "delivery", id, "correlation", id, "event", event,
			"count", len(names), "first", quoteShort(names[0]))
	}
}

// storeDelivery stores a delivery before it answers. A second delivery with the same id gets the same answer as the first.
func (h *handler) storeDelivery(w http.ResponseWriter, r *http.Request, delivery inbox.Delivery) {
	fresh, err := h.store.Inbox.SaveDelivery(r.Context(), delivery)
	if err != nil {
		h.answerFailure(w, r, delivery.ID, err)
		return
	}
	h.log.DebugContext(r.Context(), "delivery stored", "delivery", delivery.ID, "correlation", delivery.ID, "source", delivery.Source, "event", delivery.Event, "fresh", fresh)
	writeAnswer(w, http.StatusAccepted, Received{Delivery: delivery.ID, State: "accepted"})
}

// isSigned reports whether the body is signed with the secret, or with the next one if there is one. Both are always compared.
func (h *handler) isSigned(body []byte, header string) bool {
	now, next := Signed(h.github, body, header), Signed(h.next, body, header)
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

func isValidName(s string) bool {
	return s != "" && len(s) <= maxName && strings.IndexFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
}
