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

// runProofs opens the proofs that the catalogue's accounts need, and sees to the oldest that are open.
func (c *Controller) runProofs(ctx context.Context) error {
	if c.Accounts.Prove == nil {
		return nil
	}
	if wanted := c.Accounts.Prove(); len(wanted) > 0 {
		if err := c.Store.Scans.OpenProofs(ctx, wanted, proveAgainAfter); err != nil {
			return err
		}
	}
	open, err := c.Store.Scans.OpenRuns(ctx)
	if err != nil {
		return err
	}
	for _, run := range open[:min(mostProofs, len(open))] {
		if err := c.seeTo(ctx, run); err != nil {
			return err
		}
	}
	return nil
}
