package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/status"
)

// client makes an attempt's calls of the Status API.
type client struct {
	*status.Client
	timings Timings

	mu     sync.Mutex
	access int // number of the newest request for access, of the last answer
}

func newClient(cfg Config, stop context.CancelCauseFunc) *client {
	return &client{timings: cfg.Timings, Client: status.New(status.Config{
		URL:   strings.TrimSuffix(cfg.Server, "/") + "/api/v1/status/attempts/" + cfg.Attempt + "/",
		Token: cfg.Token, HTTP: cfg.HTTP, Log: cfg.Log, Stop: stop,
		Call: cfg.Timings.Call, RetryMin: cfg.Timings.RetryMin, RetryMax: cfg.Timings.RetryMax,
	})}
}

// sendClaim claims the attempt, and retries until there is a response or ClaimPatience is over.
func (c *client) sendClaim(ctx context.Context, claim contract.Claim) (contract.Claimed, error) {
	patience := time.Now().Add(c.timings.ClaimPatience)
	var out contract.Claimed
	sent, err := c.Ask(ctx, "claim", claim, &out, func() bool { return time.Now().After(patience) })
	if err != nil {
		return out, err
	}
	c.obeyAnswer(sent, out.Answer)
	return out, nil
}

// sendRecord asks the server to store an identity, and retries until it responds: without a response the record may be stored or not, and
// only a response that does not say stop permits anything.
func (c *client) sendRecord(ctx context.Context, record contract.Record) (contract.Answer, error) {
	return c.sendCall(ctx, "record", record, c.LeaseOver)
}

// sendReservation asks the server to reserve capacity, and retries until it responds: without its answer there is none.
func (c *client) sendReservation(ctx context.Context, demand contract.Demand) (contract.Reservation, error) {
	var out contract.Reservation
	sent, err := c.Ask(ctx, "reserve", demand, &out, c.LeaseOver)
	if err == nil {
		c.obeyAnswer(sent, out.Answer)
	}
	return out, err
}

// sendReport sends progress until it is acknowledged or the lease is over. A repeated seq changes nothing on the server.
func (c *client) sendReport(ctx context.Context, report contract.Report) (contract.Answer, error) {
	return c.sendCall(ctx, "report", report, c.LeaseOver)
}

// sendResult ends the attempt; it is retried until giveUp says so.
func (c *client) sendResult(ctx context.Context, result contract.Result, giveUp func() bool) error {
	_, err := c.sendCall(ctx, "result", result, giveUp)
	return err
}

func (c *client) sendCall(ctx context.Context, what string, in any, giveUp func() bool) (contract.Answer, error) {
	var out contract.Answer
	sent, err := c.Ask(ctx, what, in, &out, giveUp)
	if err == nil {
		c.obeyAnswer(sent, out)
	}
	return out, err
}

// accessWork asks what differs between who should have access and who has, and retries for a while: a server of the release before does
// not know, and that is no reason to end an install.
func (c *client) accessWork(ctx context.Context) (contract.AccessWork, error) {
	var out contract.AccessWork
	patience := time.Now().Add(c.timings.ClaimPatience)
	sent, err := c.Ask(ctx, "access", nil, &out, func() bool { return c.LeaseOver() || time.Now().After(patience) })
	switch {
	case err == nil:
		c.obeyAnswer(sent, out.Answer)
	case errors.Is(err, status.ErrLeaseOver) && !c.LeaseOver():
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

// obeyAnswer does what every response asks for.
func (c *client) obeyAnswer(sent time.Time, answer contract.Answer) {
	c.mu.Lock()
	c.access = answer.Access
	c.mu.Unlock()
	c.Heed(sent, answer)
}
