package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// respondTimeout bounds an answer: Slack waits three seconds for the acknowledgement that follows it.
const respondTimeout = 1500 * time.Millisecond

// responseHosts are where the response_url of a request leads: https://docs.slack.dev/interactivity/handling-user-interaction
var responseHosts = []string{"hooks.slack.com", "hooks.slack-gov.com"}

// Responder answers a request at the response_url that came with it. It has no token, so it reaches nobody else. It is safe for concurrent
// use.
type Responder struct {
	http *http.Client
	host string // also allowed; empty: none
}

// NewResponder returns a responder. apiURL is the address of Slack's API; empty: DefaultBaseURL. The same host is allowed as the host of
// a response_url, beside Slack's.
func NewResponder(apiURL string) *Responder {
	host := ""
	if base, err := url.Parse(apiURL); err == nil && apiURL != "" && apiURL != DefaultBaseURL {
		host = base.Host
	}
	return &Responder{&http.Client{Timeout: respondTimeout, CheckRedirect: nowhereElse}, host}
}

// Respond answers the person who made a request, alone. text is in Slack's markup.
func (r *Responder) Respond(ctx context.Context, to secret.Text, text string) error {
	at, err := url.Parse(to.Reveal())
	if err != nil || !r.isAllowed(at) {
		return errors.New("answer a request: its response_url does not lead to Slack")
	}
	body, err := json.Marshal(map[string]any{"response_type": "ephemeral", "replace_original": false, "text": text})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), bytes.NewReader(body))
	if err != nil {
		return errors.New("answer a request: its response_url is not valid")
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := r.http.Do(request)
	if err != nil {
		var wrong *url.Error // its text has the address, which is a secret
		if errors.As(err, &wrong) {
			err = wrong.Err
		}
		return fmt.Errorf("answer a request: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("answer a request: Slack answers %s", answer.Status)
	}
	return nil
}

func (r *Responder) isAllowed(at *url.URL) bool {
	if r.host != "" && at.Host == r.host {
		return true
	}
	return at.Scheme == "https" && slices.Contains(responseHosts, at.Host)
}
