package controller

import (
	"errors"
	"time"

	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/chatops/slack"
)

// Words that GitHub or Slack refuses wait first this long, and at most that long.
const (
	refusedPause    = 10 * time.Minute
	refusedPauseMax = time.Hour
)

// pause says whether words have to wait, and how long: for their turn, for the end of a rate limit, or for a person, where
// GitHub or Slack will refuse until somebody changes something (a locked conversation, a right taken from the App, a revoked
// token). The longer a job has waited for a person the longer it goes on to wait. Any other error is River's to retry.
func (c *Controller) pause(err error, since time.Time) (wait time.Duration, paused bool) {
	var turn later
	var limited github.RateLimited
	var late slack.RateLimited
	switch {
	case errors.As(err, &turn):
		return turn.wait, true
	case errors.As(err, &limited):
		return max(limited.RetryAfter, time.Second), true
	case errors.As(err, &late):
		return max(late.RetryAfter, time.Second), true
	case errors.Is(err, slack.ErrRefused), refused(err):
		return min(max(c.Now().Sub(since), refusedPause), refusedPauseMax), true
	}
	return 0, false
}

// refused says that GitHub understood and will not until a person changes something.
func refused(err error) bool {
	return errors.Is(err, github.ErrRefused) || errors.Is(err, github.ErrNotFound) || errors.Is(err, github.ErrNotFile)
}

// waits logs why words wait, but for those that wait for their turn, which is no news.
func (c *Controller) logWait(err error, wait time.Duration, about ...any) {
	var turn later
	var limited github.RateLimited
	if !errors.As(err, &turn) && !(errors.As(err, &limited) && limited.Spread) {
		c.Log.Warn("words wait", append(about, "wait", wait, "err", err)...)
	}
}
