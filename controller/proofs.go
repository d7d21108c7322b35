package controller

import (
	"context"
	"time"
)

const (
	// mostProofs is how many proofs have a runner at once: a catalogue may have many accounts.
	mostProofs = 4
	// proveAgainAfter is how long after a proof that did not prove its account the next one begins by itself.
	proveAgainAfter = 5 * time.Minute
)

// runProofs opens the proofs that the catalogue's accounts need, and sees to the oldest that are open. any: there is an open one.
func (c *Controller) runProofs(ctx context.Context) (any bool, err error) {
	if c.Accounts.Prove == nil {
		return false, nil
	}
	if wanted := c.Accounts.Prove(); len(wanted) > 0 {
		if err := c.Store.Scans.OpenProofs(ctx, wanted, proveAgainAfter); err != nil {
			return false, err
		}
	}
	open, err := c.Store.Scans.OpenRuns(ctx)
	if err != nil {
		return false, err
	}
	for _, run := range open[:min(mostProofs, len(open))] {
		if err := c.seeTo(ctx, run); err != nil {
			return false, err
		}
	}
	return len(open) > 0, nil
}
