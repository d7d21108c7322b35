// Package slack is a client of Slack. It posts and updates messages, answers one person, opens forms, shows App Home, and asks who
// people are. It acts as a Slack app's bot, in one workspace.
//
// It must never decide anything, write text of its own, or show one person's answer to others: an answer in a channel is ephemeral.
//
// Slack has no idempotency key: a call whose response was lost may have posted its message. So a message carries a marker in its
// metadata, and Find looks for it before it is posted again. An ephemeral message cannot be found: it is sent twice.
package slack

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	api "github.com/slack-go/slack"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// DefaultBaseURL is the URL of Slack's API.
const DefaultBaseURL = api.APIURL

const defaultTimeout = 10 * time.Second

// Config holds the credentials and how to reach Slack.
type Config struct {
	Token       secret.Text       // the bot's, xoxb-…
	BaseURL     string            // empty: DefaultBaseURL
	HTTPTimeout time.Duration     // of one HTTP exchange; zero: 10 s
	Transport   http.RoundTripper // nil: http.DefaultTransport

	Called func(method, result string) // after each call, e.g. chat.update and ResultOK; nil: nobody counts
}

// Client acts as the bot. It is safe for concurrent use.
type Client struct {
	api  *api.Client
	home atomic.Pointer[Identity] // whose token this is, once it is known
}

// New checks the configuration. It makes no call.
func New(cfg Config) (*Client, error) {
	if cfg.Token.Empty() {
		return nil, errors.New("the Slack bot token is empty")
	}
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	if cfg.HTTPTimeout == 0 {
		cfg.HTTPTimeout = defaultTimeout
	}
	base, err := url.Parse(cfg.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("base URL of Slack %q: want http(s)://host/api/", cfg.BaseURL)
	}
	if cfg.Transport == nil {
		cfg.Transport = http.DefaultTransport
	}
	if cfg.Called != nil {
		cfg.Transport = counted{cfg.Transport, cfg.Called}
	}
	http := &http.Client{Transport: cfg.Transport, Timeout: cfg.HTTPTimeout, CheckRedirect: nowhereElse}
	return &Client{api: api.New(cfg.Token.Reveal(), api.OptionAPIURL(strings.TrimSuffix(cfg.BaseURL, "/")+"/"), api.OptionHTTPClient(http))}, nil
}

// nowhereElse follows no redirect: the token would be sent along.
func nowhereElse(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
