package github

import (
	"context"
	"fmt"
	"sync"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// installation is the state of one installation of the App.
type installation struct {
	limits *limits

	mu     sync.Mutex
	client *gh.Client

	turn chan struct{} // held by the one caller that writes
	last time.Time     // of the newest writing call; guarded by turn
}

func (in *installation) currentClient() *gh.Client {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.client
}

// replaceClient replaces a used client with a fresh one, unless another call has already done so.
func (in *installation) replaceClient(used, fresh *gh.Client) *gh.Client {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.client == used {
		in.client = fresh
	}
	return in.client
}

// changeAsInstallation runs fn as an installation while nothing else in this process writes there. fn must call leave before each writing call and
// only then: reads do not count towards the write limits. GitHub's secondary limits demand both:
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api A caller that would wait longer than the
// patience gets RateLimited, so that no worker waits for long.
func (c *Client) changeAsInstallation(ctx context.Context, id int64, fn func(client *gh.Client, leave func() error) error) error {
	in, err := c.installationState(id)
	if err != nil {
		return err
	}
	if wait := in.limits.writeDelay(); wait > 0 {
		return RateLimited{RetryAfter: atLeastASecond(wait), Spread: true}
	}
	began := time.Now()
	patience := time.NewTimer(c.cfg.Patience)
	defer patience.Stop()
	select {
	case in.turn <- struct{}{}:
	case <-patience.C:
		return RateLimited{RetryAfter: atLeastASecond(c.writePace())}
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-in.turn }()

	wrote := false
	defer func() {
		if wrote {
			in.last = c.cfg.Now()
		}
	}()
	return c.callAsInstallation(ctx, id, func(client *gh.Client) error {
		return fn(client, func() error {
			// A Leave taken for a call that is then not made would be missing when GitHub responds again.
			if err := in.limits.checkWritable(ctx); err != nil {
				return err
			}
			wrote = true
			return c.waitForWrite(ctx, id, in, c.cfg.Patience-time.Since(began))
		})
	})
}

// waitForWrite waits until the installation may write, at most for the patience.
func (c *Client) waitForWrite(ctx context.Context, id int64, in *installation, patience time.Duration) error {
	for {
		wait, err := c.askLeave(ctx, id, in)
		switch {
		case err != nil:
			return fmt.Errorf("ask leave to write in installation %d: %w", id, err)
		case wait <= 0:
			in.last = c.cfg.Now()
			return nil
		case wait > patience:
			return RateLimited{RetryAfter: wait}
		}
		if err := sleepContext(ctx, wait); err != nil {
			return err
		}
		patience -= wait
	}
}

func (c *Client) askLeave(ctx context.Context, id int64, in *installation) (time.Duration, error) {
	if c.cfg.Leave != nil {
		return c.cfg.Leave(ctx, id)
	}
	if in.last.IsZero() {
		return 0, nil
	}
	return c.writePace() - c.cfg.Now().Sub(in.last), nil
}

func (c *Client) writePace() time.Duration { return max(c.cfg.Pace, 0) }

func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
