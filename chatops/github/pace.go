package github

import (
	"context"
	"fmt"
	"sync"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// installation is one place the App is installed in.
type installation struct {
	limits *limits

	mu     sync.Mutex
	client *gh.Client

	turn chan struct{} // holds the one caller that changes things
	last time.Time     // of the newest changing call; guarded by turn
}

func (in *installation) get() *gh.Client {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.client
}

// replace puts a fresh client in the place of a used one, unless another call has done so already.
func (in *installation) replace(used, fresh *gh.Client) *gh.Client {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.client == used {
		in.client = fresh
	}
	return in.client
}

// change runs fn as an installation while nobody else in this process changes anything there. fn calls leave before each
// call that writes, and only then: what is read costs nothing of what GitHub allows to be written. GitHub's secondary
// limits ask for both: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
// Who would wait longer than the patience is answered RateLimited, so that no worker stands in line for long.
func (c *Client) change(ctx context.Context, id int64, fn func(client *gh.Client, leave func() error) error) error {
	in, err := c.installation(id)
	if err != nil {
		return err
	}
	if wait := in.limits.slow(); wait > 0 {
		return RateLimited{RetryAfter: atLeastASecond(wait), Spread: true}
	}
	began := time.Now()
	patience := time.NewTimer(c.cfg.Patience)
	defer patience.Stop()
	select {
	case in.turn <- struct{}{}:
	case <-patience.C:
		return RateLimited{RetryAfter: atLeastASecond(c.pace())}
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
	return c.call(ctx, id, func(client *gh.Client) error {
		return fn(client, func() error {
			// Leave that is taken for a call that is then not made would be missing when GitHub answers again.
			if err := in.limits.writable(ctx); err != nil {
				return err
			}
			wrote = true
			return c.leave(ctx, id, in, c.cfg.Patience-time.Since(began))
		})
	})
}

// leave waits until the installation may write, for no longer than the patience.
func (c *Client) leave(ctx context.Context, id int64, in *installation, patience time.Duration) error {
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
		if err := sleep(ctx, wait); err != nil {
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
	return c.pace() - c.cfg.Now().Sub(in.last), nil
}

func (c *Client) pace() time.Duration { return max(c.cfg.Pace, 0) }

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
