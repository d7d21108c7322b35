package controller

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/chatops/slack"
)

// The first and the longest wait after GitHub or Slack refused a text.
const (
	refusedPause    = 10 * time.Minute
	refusedPauseMax = time.Hour
)

// pause reports whether a text has to wait, and for how long: for its turn, for the end of a rate limit, or for a person, if GitHub
// or Slack will refuse until somebody changes something (a locked conversation, a permission removed from the App, a revoked token).
// The wait for a person grows with the age of the job. Any other error is left to River's retries.
func (c *Controller) pause(err error, since time.Time) (wait time.Duration, paused bool) {
	var turn later
	var limited github.RateLimited
	var late slack.RateLimited
	switch {
	case errors.As(err, &turn) && turn.shared:
		return turn.wait + rand.N(min(max(c.Now().Sub(since), time.Second), farthestTurn)), true
	case errors.As(err, &turn):
		return turn.wait, true
	case errors.As(err, &limited):
		return max(limited.RetryAfter, time.Second), true
	case errors.As(err, &late):
		return max(late.RetryAfter, time.Second), true
	case errors.Is(err, slack.ErrRefused), errors.Is(err, slack.ErrChannel), isRefusal(err):
		return min(max(c.Now().Sub(since), refusedPause), refusedPauseMax), true
	}
	return 0, false
}

// isRefusal reports that GitHub understood the call and refuses it until a person changes something.
func isRefusal(err error) bool {
	return errors.Is(err, github.ErrRefused) || errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrNotFile)
}

// logWait logs why a text waits, except if it only waits for its turn.
func (c *Controller) logWait(ctx context.Context, err error, wait time.Duration, about ...any) {
	var turn later
	var limited github.RateLimited
	if !errors.As(err, &turn) && !(errors.As(err, &limited) && limited.Spread) {
		c.Log.WarnContext(ctx, "update delayed", append(about, "wait", wait, "err", err)...)
	}
}
