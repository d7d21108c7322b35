// Package slack is a client of Slack. It sends text to one person: in the channel in which they asked if possible, otherwise in a
// direct message. It acts as a Slack app's bot, in one workspace.
//
// It must never decide anything, write text of its own, or show one person's answer to others: what it posts in a channel is
// ephemeral. Slack offers no way to find a message by a marker, so a text whose response was lost is sent twice.
package slack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
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
}

// Client acts as the bot. It is safe for concurrent use.
type Client struct{ api *api.Client }

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
	http := &http.Client{Transport: cfg.Transport, Timeout: cfg.HTTPTimeout, CheckRedirect: nowhereElse}
	return &Client{api.New(cfg.Token.Reveal(), api.OptionAPIURL(strings.TrimSuffix(cfg.BaseURL, "/")+"/"), api.OptionHTTPClient(http))}, nil
}

// nowhereElse follows no redirect: the token would be sent along.
func nowhereElse(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Target is a person and the channel in which they asked.
type Target struct{ Channel, User string } // their ids

// Send sends text, in GitHub's Markdown, to one person, and returns the message's timestamp in microseconds.
func (c *Client) Send(ctx context.Context, to Target, markdown string) (int64, error) {
	text := []api.MsgOption{api.MsgOptionText(Text(markdown), false), api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl()}
	stamp, err := c.api.PostEphemeralContext(ctx, to.Channel, to.User, text...)
	if !slices.Contains(unseen, code(err)) {
		return said("answer "+to.User+" in "+to.Channel, stamp, err)
	}
	alone, _, _, err := c.api.OpenConversationContext(ctx, &api.OpenConversationParameters{Users: []string{to.User}, ReturnIM: true})
	if err != nil {
		return 0, explain("open a conversation with "+to.User, err)
	}
	if alone == nil || alone.ID == "" {
		return 0, fmt.Errorf("open a conversation with %s: Slack named none", to.User)
	}
	_, stamp, err = c.api.PostMessageContext(ctx, alone.ID, text...)
	return said("answer "+to.User+" alone", stamp, err)
}

// said returns the timestamp of the posted message.
func said(doing, stamp string, err error) (int64, error) {
	if err != nil {
		return 0, explain(doing, err)
	}
	at, err := micros(stamp)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", doing, err)
	}
	return at, nil
}

// micros parses a message's timestamp, e.g. 1710000000.000100.
func micros(stamp string) (int64, error) {
	whole, part, ok := strings.Cut(stamp, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	rest, partErr := strconv.ParseInt(part, 10, 64)
	if !ok || err != nil || partErr != nil || len(part) != 6 || rest < 0 || seconds <= 0 || seconds > math.MaxInt64/1_000_000-1 {
		return 0, fmt.Errorf("%q is no timestamp of a message", stamp)
	}
	return seconds*1_000_000 + rest, nil
}
