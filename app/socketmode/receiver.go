// Package socketmode receives Slack's requests over WebSockets that this server opens, for installations that Slack cannot reach. What
// comes in goes the same way as a request over HTTP, and gets the same answer.
//
// It must never interpret a request, or acknowledge one that was not stored: Slack sends such a request again, over another connection.
// https://docs.slack.dev/apis/events-api/using-socket-mode
package socketmode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
	"golang.org/x/sync/errgroup"

	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tracing"
)

const (
	// connections is how many are open: Slack closes each after some hours, and sends over the other meanwhile.
	connections = 2
	// takenAtOnce is how many requests of one connection are stored at once; the next wait in it.
	takenAtOnce = 64
	maxMessage  = 1 << 20 // as over HTTP
	callTimeout = 10 * time.Second

	// How long to wait after Slack refused the app token: a person has to change something.
	firstWait   = 10 * time.Second
	longestWait = 5 * time.Minute

	// silence is how long there may be no connection before the log says so, again and again.
	silence = time.Minute
)

// Config configures a Receiver. All fields but Transport and Log are required.
type Config struct {
	AppToken secret.Text // xapp-…, with the scope connections:write
	APIURL   string      // base URL of Slack's API

	// Take stores a request and returns the answer to it, as JSON takes it; nil: an empty one. Not ok: it was not stored, and is not
	// acknowledged.
	Take func(ctx context.Context, contentType string, body []byte) (answer any, ok bool)

	Transport http.RoundTripper // nil: http.DefaultTransport
	Log       *slog.Logger
}

// Receiver keeps connections to Slack.
type Receiver struct {
	api   *slack.Client
	take  func(ctx context.Context, contentType string, body []byte) (any, bool)
	log   *slog.Logger
	links *links
}

// New checks the configuration. It makes no call.
func New(c Config) (*Receiver, error) {
	if c.AppToken.Empty() {
		return nil, errors.New("the Slack app token is empty")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	client := &http.Client{Transport: c.Transport, Timeout: callTimeout, CheckRedirect: nowhereElse}
	return &Receiver{
		api: slack.New("", slack.OptionAppLevelToken(c.AppToken.Reveal()), slack.OptionAPIURL(strings.TrimSuffix(c.APIURL, "/")+"/"),
			slack.OptionHTTPClient(client)),
		take: c.Take, log: c.Log, links: &links{},
	}, nil
}

// nowhereElse follows no redirect: the token would be sent along.
func nowhereElse(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Check asks Slack whether it opens connections for the token. It opens none.
func (r *Receiver) Check(ctx context.Context) error {
	if _, _, err := r.api.StartSocketModeContext(ctx); err != nil {
		return fmt.Errorf("ask Slack for a connection: %w", err)
	}
	return nil
}

// Run receives until ctx ends. Then it takes no more requests, and finishes those that it has.
func (r *Receiver) Run(ctx context.Context) {
	var group errgroup.Group
	for range connections {
		group.Go(func() error {
			r.keepConnected(ctx)
			return nil
		})
	}
	group.Go(func() error {
		r.watchConnection(ctx)
		return nil
	})
	_ = group.Wait() // none returns an error
}

// keepConnected keeps one connection. The client connects again by itself, except after an answer that waiting does not change.
func (r *Receiver) keepConnected(ctx context.Context) {
	for wait := firstWait; ctx.Err() == nil; wait = min(2*wait, longestWait) {
		err := r.receiveRequests(ctx)
		if ctx.Err() != nil {
			return
		}
		r.log.ErrorContext(ctx, "slack refuses the connection; check slack.app_token_ref", "err", err, "retry_in", wait)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// receiveRequests runs one client until it gives up or ctx ends. Requests that it has are finished before its connection is closed.
func (r *Receiver) receiveRequests(ctx context.Context) error {
	link := r.links.addLink()
	defer link.setOpen(false)
	client := socketmode.New(r.api, socketmode.OptionReadLimit(maxMessage))
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- client.RunContext(running) }()
	var taking errgroup.Group
	taking.SetLimit(takenAtOnce)
	defer func() {
		stop() // whoever waits to acknowledge need not wait any more
		_ = taking.Wait()
	}()
	for {
		select {
		case <-ctx.Done():
			_ = taking.Wait() // none returns an error
			stop()
			return <-ended
		case err := <-ended:
			return err
		case e := <-client.Events:
			if request, ok := r.handleEvent(ctx, link, e); ok {
				taking.Go(func() error {
					r.storeEnvelope(context.WithoutCancel(ctx), running, client, request)
					return nil
				})
			}
		}
	}
}

// handleEvent notes the connection's state, and returns the request that an event carries.
func (r *Receiver) handleEvent(ctx context.Context, link *link, e socketmode.Event) (request socketmode.Request, ok bool) {
	switch e.Type {
	case socketmode.EventTypeConnected:
		link.setOpen(true)
	case socketmode.EventTypeConnecting:
		link.setOpen(false)
	case socketmode.EventTypeConnectionError:
		if said, known := e.Data.(*slack.ConnectionErrorEvent); known {
			r.log.WarnContext(ctx, "no connection to slack", "err", said.ErrorObj, "retry_in", said.Backoff)
		}
	case socketmode.EventTypeErrorBadMessage: // the library does not know the event, which says nothing about the envelope
		said, known := e.Data.(*socketmode.ErrorBadMessage)
		if known && json.Unmarshal(said.Message, &request) == nil && request.EnvelopeID != "" {
			return request, true
		}
	case socketmode.EventTypeEventsAPI, socketmode.EventTypeInteractive, socketmode.EventTypeSlashCommand:
		if e.Request != nil {
			return *e.Request, true
		}
	}
	return request, false
}

// storeEnvelope has one request stored, and acknowledges it while the connection runs.
func (r *Receiver) storeEnvelope(ctx, running context.Context, client *socketmode.Client, e socketmode.Request) {
	ctx, span := tracing.Start(ctx, tracing.Server, "slack socket "+e.Type)
	defer span.End()
	answer, ok := r.take(ctx, "application/json", e.Payload)
	if !ok {
		return
	}
	if !e.AcceptsResponsePayload {
		answer = nil
	}
	if err := client.AckCtx(running, e.EnvelopeID, answer); err != nil {
		r.log.ErrorContext(ctx, "slack request not acknowledged", "err", fmt.Errorf("answer the envelope %s: %w", e.EnvelopeID, err))
	}
}

// watchConnection says in the log that there has been no connection for long.
func (r *Receiver) watchConnection(ctx context.Context) {
	ticks := time.NewTicker(silence)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			if since := r.links.downSince(); !since.IsZero() && now.Sub(since) >= silence {
				r.log.ErrorContext(ctx, "no connection to slack for a minute or longer; nothing that people do in slack arrives", "since", since)
			}
		}
	}
}
