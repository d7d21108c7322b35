package controller

import (
	"context"
	"time"
)

const (
	// longestProof is how long a proof may take: it only reads, and somebody may wait for it.
	longestProof = 15 * time.Minute
	// proveAgainAfter is how long after a proof that did not prove its account the next one begins by itself.
	proveAgainAfter = 5 * time.Minute
)

// runProofs opens the proofs that the catalogue's accounts need, and sees to those that are open.
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
	for _, run := range open {
		if err := c.seeTo(ctx, run); err != nil {
			return err
		}
	}
	return nil
}
