package github

import (
	"context"
	"sync"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// installation is one place the App is installed in.
type installation struct {
	mu     sync.Mutex
	client *gh.Client

	turn chan struct{} // holds the one changing call under way
	last time.Time     // end of the newest changing call; guarded by turn
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

// change runs fn as an installation, alone and no sooner than the pace after the change before it. GitHub's
// secondary limits ask for both: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
// Who would wait longer than the patience is answered RateLimited, so that no worker stands in line for long.
func (c *Client) change(ctx context.Context, id int64, fn func(*gh.Client) error) error {
	in, err := c.installation(id)
	if err != nil {
		return err
	}
	patience := time.NewTimer(c.cfg.Patience)
	defer patience.Stop()
	select {
	case in.turn <- struct{}{}:
	case <-patience.C:
		return RateLimited{RetryAfter: c.pace()}
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-in.turn }()

	if rest := c.pace() - c.cfg.Now().Sub(in.last); rest > 0 && !in.last.IsZero() {
		wait := time.NewTimer(rest)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-patience.C:
			return RateLimited{RetryAfter: rest}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { in.last = c.cfg.Now() }()
	return c.call(ctx, id, fn)
}

func (c *Client) pace() time.Duration { return max(c.cfg.Pace, 0) }
