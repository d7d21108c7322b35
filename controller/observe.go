package controller

import (
	"context"
	"errors"

	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
)

// sighting is what the dispatcher reports about the open attempt's runner.
type sighting struct {
	open   attempts.LaunchSpec // Number is 0 if none is open
	runner lifecycle.Sighting
}

// observe asks the dispatcher about the open attempt's runner. A missing answer is Unknown, which decides nothing.
func (c *Controller) observe(ctx context.Context, cluster string) (sighting, error) {
	open, err := c.Store.Attempts.OpenAttempt(ctx, cluster)
	if errors.Is(err, store.ErrNotFound) {
		return sighting{}, nil
	}
	if err != nil {
		return sighting{}, err
	}
	seen, err := c.Dispatcher.Observe(ctx, open.Attempt)
	if err != nil {
		c.Log.WarnContext(ctx, "runner not observed", "cluster", cluster, "attempt", open.Attempt, "err", err)
		return sighting{open: open}, nil
	}
	return sighting{open, runnerSighting(seen)}, nil
}

func runnerSighting(seen dispatch.Sighting) lifecycle.Sighting {
	switch seen {
	case dispatch.NotStarted:
		return lifecycle.NotStarted
	case dispatch.Running:
		return lifecycle.Alive
	case dispatch.Ended:
		return lifecycle.Ended
	}
	return lifecycle.Unknown
}
