package runner

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
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tracing"
)

// Why an attempt is stopped, as the cause of its context.
var (
	errLeaseOver = errors.New("the server did not respond during the whole lease")
	errRefused   = errors.New("the server permanently refused the request")
)

// stopAsked is the server's request to stop.
type stopAsked struct{ why string }

func (s stopAsked) Error() string { return "the server requested a stop: " + s.why }

// client calls the Status API. Every response renews token and lease, and one that says stop ends the work.
type client struct {
	base    string
	http    *http.Client
	log     *slog.Logger
	timings Timings
	lease   lease
	stop    context.CancelCauseFunc

	mu     sync.Mutex
	token  secret.Text
	access int // number of the newest request for access, of the last answer
}

func newClient(cfg Config, stop context.CancelCauseFunc) *client {
	return &client{
		base: strings.TrimSuffix(cfg.Server, "/") + "/api/v1/status/attempts/" + cfg.Attempt + "/",
		http: cfg.HTTP, log: cfg.Log, timings: cfg.Timings, token: cfg.Token, stop: stop,
	}
}

// claim claims the attempt, and retries until there is a response or ClaimPatience is over.
func (c *client) claim(ctx context.Context, claim contract.Claim) (contract.Claimed, error) {
	patience := time.Now().Add(c.timings.ClaimPatience)
	var out contract.Claimed
	sent, err := c.ask(ctx, "claim", claim, &out, func() bool { return time.Now().After(patience) })
	if err != nil {
		return out, err
	}
	c.heed(sent, out.Answer)
	return out, nil
}

// record asks the server to store an identity, and retries until it responds: without a response the record may be stored or not, and
// only a response that does not say stop permits anything.
func (c *client) record(ctx context.Context, record contract.Record) (contract.Answer, error) {
	return c.send(ctx, "record", record, c.leaseOver)
}

// reserve asks the server to reserve capacity, and retries until it responds: without its answer there is none.
func (c *client) reserve(ctx context.Context, demand contract.Demand) (contract.Reservation, error) {
	var out contract.Reservation
	sent, err := c.ask(ctx, "reserve", demand, &out, c.leaseOver)
	if err == nil {
		c.heed(sent, out.Answer)
	}
	return out, err
}

// report sends progress until it is acknowledged or the lease is over. A repeated seq changes nothing on the server.
func (c *client) report(ctx context.Context, report contract.Report) (contract.Answer, error) {
	return c.send(ctx, "report", report, c.leaseOver)
}

// result ends the attempt; it is retried until giveUp says so.
func (c *client) result(ctx context.Context, result contract.Result, giveUp func() bool) error {
	_, err := c.send(ctx, "result", result, giveUp)
	return err
}

func (c *client) leaseOver() bool { return c.lease.left() <= 0 }

func (c *client) send(ctx context.Context, what string, in any, giveUp func() bool) (contract.Answer, error) {
	var out contract.Answer
	sent, err := c.ask(ctx, what, in, &out, giveUp)
	if err == nil {
		c.heed(sent, out)
	}
	return out, err
}

// accessWork asks what differs between who should have access and who has, and retries for a while: a server of the release before does
// not know, and that is no reason to end an install.
func (c *client) accessWork(ctx context.Context) (contract.AccessWork, error) {
	var out contract.AccessWork
	patience := time.Now().Add(c.timings.ClaimPatience)
	sent, err := c.ask(ctx, "access", nil, &out, func() bool { return c.leaseOver() || time.Now().After(patience) })
	switch {
	case err == nil:
		c.heed(sent, out.Answer)
	case errors.Is(err, errLeaseOver) && !c.leaseOver():
		err = fmt.Errorf("the server did not say who should have access: %s", err.Error())
	}
	return out, err
}

// accessAsked returns the number of the newest request for access that may be met beside other work; 0: there is none.
func (c *client) accessAsked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.access
}

// heed does what every response asks for.
func (c *client) heed(sent time.Time, answer contract.Answer) {
	c.lease.renew(sent, answer.Lease)
	c.mu.Lock()
	c.access = answer.Access
	if answer.Token != "" {
		c.token = secret.New(answer.Token)
	}
	c.mu.Unlock()
	if answer.Stop != "" {
		c.stop(stopAsked{answer.Stop})
	}
}

// ask posts until there is a response. It ends at once with ErrFenced or errRefused, and with errLeaseOver when giveUp says so. sent
// is when the answered request was started.
func (c *client) ask(ctx context.Context, what string, in, out any, giveUp func() bool) (sent time.Time, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return sent, fmt.Errorf("encode %s: %w", what, err)
	}
	wait := c.timings.RetryMin
	for {
		sent = time.Now()
		err = c.post(ctx, what, body, out)
		switch {
		case err == nil, errors.Is(err, ErrFenced), errors.Is(err, errRefused):
			return sent, err
		case ctx.Err() != nil:
			return sent, context.Cause(ctx)
		case giveUp():
			return sent, fmt.Errorf("%w: %w", errLeaseOver, err)
		}
		c.log.Warn("status api did not answer", "what", what, "err", err.Error())
		if err := sleep(ctx, wait/2+rand.N(wait/2+1)); err != nil {
			return sent, err
		}
		wait = min(2*wait, c.timings.RetryMax)
	}
}

// post makes one call. Status codes that a retry cannot change become errRefused; 409 and 410 say that the attempt is not ours. 401
// is retried until the lease is over: a server that just restarted may not have its keys yet.
func (c *client) post(ctx context.Context, what string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timings.Call)
	defer cancel()
	ctx, span := tracing.Start(ctx, tracing.Client, "status "+what)
	defer span.End()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+what, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	c.mu.Lock()
	request.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	c.mu.Unlock()
	request.Header.Set("Content-Type", "application/json")
	if cause := tracing.Of(ctx); cause.Correlation != "" {
		request.Header.Set("X-Request-Id", cause.Correlation)
		request.Header.Set(tracing.TraceparentHeader, cause.Traceparent)
	}
	response, err := c.http.Do(request)
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
		return fmt.Errorf("%w: %s", ErrFenced, problem(code, raw))
	case code == http.StatusBadRequest || code == http.StatusUnprocessableEntity || code == http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%w: %s", errRefused, problem(code, raw))
	default:
		return errors.New(problem(code, raw))
	}
}

func problem(code int, raw []byte) string {
	var p contract.Problem
	if json.Unmarshal(raw, &p) != nil || p.Title == "" {
		return fmt.Sprintf("status %d", code)
	}
	return fmt.Sprintf("status %d: %s: %s", code, p.Title, p.Detail)
}

// sleep waits, or ends with the context's cause.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
