package hooks

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/app/hooks/guard"
	"github.com/ocpctl/ocpctl/store/inbox"
)

// slackEntrance is the endpoint for Slack's requests: signature and timestamp are checked first.
func (h *handler) slackEntrance() guard.Entrance {
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
	return guard.Entrance{
		MaxBody: MaxSlackBody, Within: slackTime, IsSigned: signed, IsFormed: formed,
		Take: func(w http.ResponseWriter, r *http.Request, body []byte) {
			answerSlack(w, h.intake.Take(r.Context(), r.Header.Get("Content-Type"), body))
		},
		Busy: func(w http.ResponseWriter, r *http.Request, body []byte) {
			answerSlack(w, h.intake.Unstored(r.Header.Get("Content-Type"), body))
		},
		Refusal: "X-Slack-Signature or X-Slack-Request-Timestamp is missing, does not match the body, or is older than five minutes. " +
			"Check the signing secret and the clock.",
	}
}

func answerSlack(w http.ResponseWriter, a SlackAnswer) {
	switch {
	case a.Status != http.StatusOK:
		guard.WriteProblem(w, a.Status, a.Detail)
	case a.Body == nil:
		w.WriteHeader(http.StatusOK)
	default:
		writeAnswer(w, a.Status, a.Body)
	}
}

// noSlack answers Slack where requests come over a socket: the app must not have this address.
func noSlack(w http.ResponseWriter, _ *http.Request) {
	guard.WriteProblem(w, http.StatusNotFound, "This server receives Slack's requests over Socket Mode (slack.mode is socket). "+
		"Remove this address from the Slack app, or set slack.mode to http.")
}

// windowTime is how long after what somebody did Slack lets a window open.
const windowTime = 3 * time.Second

// openWindow opens the window that a fresh request from Slack leads to. Whether it opened is seen when something is shown in it.
func (w *InboxWorker) openWindow(ctx context.Context, d inbox.Delivery) {
	if d.Source != SourceSlack || d.Tries > 0 || d.ReadAt.Sub(d.ReceivedAt) > windowTime {
		return
	}
	r, err := readSlack(d)
	if err != nil {
		return // processing it says so
	}
	ctx, cancel := context.WithTimeout(ctx, windowTime)
	defer cancel()
	if err := w.inSlack.OpenWindow(ctx, r); err != nil {
		w.log.WarnContext(ctx, "window in slack not opened", "delivery", d.ID, "err", err)
	}
}

// handleSlack processes a stored request.
func (w *InboxWorker) handleSlack(ctx context.Context, d inbox.Delivery) (string, error) {
	r, err := readSlack(d)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUnprocessable, err)
	}
	return w.inSlack.Handle(ctx, r)
}
