// Package status is a runner's side of the Status API: one client for every kind of runner.
//
// Every response renews the token and the lease, and one that says stop ends the work. A call is repeated until there is a response; an
// unanswered call is never taken for an answer.
package status

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tracing"
)

// Why work ends, as the cause of its context or as the error of a call.
var (
	// ErrFenced means that the work is not ours: another runner claimed it, or it is closed. The runner must not do anything more.
	ErrFenced = errors.New("the work belongs to another runner or is closed")
	// ErrLeaseOver means that the server did not respond during the whole lease.
	ErrLeaseOver = errors.New("the server did not respond during the whole lease")
	// ErrRefused means that the server will never accept the request.
	ErrRefused = errors.New("the server permanently refused the request")
	// ErrUntold means that the work ended and its result could not be delivered.
	ErrUntold = errors.New("the result could not be delivered")
)

// StopAsked is the server's request to stop.
type StopAsked struct{ Why string }

// Error implements error.
func (s StopAsked) Error() string { return "the server requested a stop: " + s.Why }

// Config says which server to call, and how often.
type Config struct {
	URL   string // what the names of the calls are appended to: …/api/v1/status/attempts/att_1/
	Token secret.Text
	HTTP  *http.Client
	Log   *slog.Logger
	Stop  context.CancelCauseFunc // ends the work

	Call     time.Duration // timeout of one call
	RetryMin time.Duration // first wait before a call is repeated, doubling with each try
	RetryMax time.Duration // … up to
}

// Client calls the Status API. It is safe for concurrent use.
type Client struct {
	cfg   Config
	lease lease

	mu    sync.Mutex
	token secret.Text
	log   *slog.Logger
}

// New makes no call.
func New(cfg Config) *Client { return &Client{cfg: cfg, token: cfg.Token, log: cfg.Log} }

// SetLog replaces the logger, once it is known what the work belongs to.
func (c *Client) SetLog(log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = log
}

// LeaseOver reports whether the runner may no longer act.
func (c *Client) LeaseOver() bool { return c.lease.remainingTime() <= 0 }

// Stop ends the work for a cause.
func (c *Client) Stop(cause error) { c.cfg.Stop(cause) }

// Heed does what every response asks for. sent is when the answered request was started.
func (c *Client) Heed(sent time.Time, answer contract.Answer) {
	c.lease.renewUntil(sent, answer.Lease)
	if answer.Token != "" {
		c.mu.Lock()
		c.token = secret.New(answer.Token)
		c.mu.Unlock()
	}
	if answer.Stop != "" {
		c.cfg.Stop(StopAsked{answer.Stop})
	}
}

// Ask posts until there is a response, and decodes it into out. It ends at once with ErrFenced or ErrRefused, and with ErrLeaseOver when
// giveUp says so. sent is when the answered request was started, for Heed.
func (c *Client) Ask(ctx context.Context, what string, in, out any, giveUp func() bool) (sent time.Time, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return sent, fmt.Errorf("encode %s: %w", what, err)
	}
	wait := c.cfg.RetryMin
	for {
		sent = time.Now()
		err = c.postOnce(ctx, what, body, out)
		switch {
		case err == nil, errors.Is(err, ErrFenced), errors.Is(err, ErrRefused):
			return sent, err
		case ctx.Err() != nil:
			return sent, context.Cause(ctx)
		case giveUp():
			return sent, fmt.Errorf("%w: %w", ErrLeaseOver, err)
		}
		c.newLogger().Warn("status api did not answer", "what", what, "err", err.Error())
		if err := Sleep(ctx, wait/2+rand.N(wait/2+1)); err != nil {
			return sent, err
		}
		wait = min(2*wait, c.cfg.RetryMax)
	}
}

// Send asks for what is answered with an Answer alone, and heeds it.
func (c *Client) Send(ctx context.Context, what string, in any, giveUp func() bool) (contract.Answer, error) {
	var out contract.Answer
	sent, err := c.Ask(ctx, what, in, &out, giveUp)
	if err == nil {
		c.Heed(sent, out)
	}
	return out, err
}

// Once posts once, for callers that repeat themselves.
func (c *Client) Once(ctx context.Context, what string, out any) error {
	return c.postOnce(ctx, what, nil, out)
}

func (c *Client) newLogger() *slog.Logger {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log
}

// postOnce makes one call. Status codes that a retry cannot change become ErrRefused; 409 and 410 say that the work is not ours. 401 is
// retried until the lease is over: a server that just restarted may not have its keys yet.
func (c *Client) postOnce(ctx context.Context, what string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Call)
	defer cancel()
	ctx, span := tracing.Start(ctx, tracing.Client, "status "+what)
	defer span.End()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.URL+what, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	c.mu.Lock()
	request.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	c.mu.Unlock()
	request.Header.Set("Content-Type", "application/json")
	if cause := tracing.Of(ctx); cause.Correlation != "" {
		request.Header.Set("X-Request-Id", cause.Correlation)
		request.Header.Set(tracing.TraceparentHeader, cause.Traceparent)
	}
	response, err := c.cfg.HTTP.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, 8<<20))
	if err != nil {
		return err
	}
	switch code := response.StatusCode; {
	case code == http.StatusOK:
		return json.Unmarshal(raw, out)
	case code == http.StatusConflict || code == http.StatusGone:
		return fmt.Errorf("%w: %s", ErrFenced, problemText(code, raw))
	case code == http.StatusBadRequest || code == http.StatusUnprocessableEntity || code == http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%w: %s", ErrRefused, problemText(code, raw))
	default:
		return errors.New(problemText(code, raw))
	}
}

func problemText(code int, raw []byte) string {
	var p contract.Problem
	if json.Unmarshal(raw, &p) != nil || p.Title == "" {
		return fmt.Sprintf("status %d", code)
	}
	return fmt.Sprintf("status %d: %s: %s", code, p.Title, p.Detail)
}

// Sleep waits, or ends with the context's cause.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
