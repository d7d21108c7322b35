package attempts

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Claim gives the attempt to the first pod that asks, for good. ErrFenced: another pod has it, or it is closed, and this pod
// must exit. With a lease that says stop, nothing is claimed.
func (s *Store) Claim(ctx context.Context, attemptID, tokenID, pod string) (Lease, error) {
	if pod == "" {
		return Lease{}, fmt.Errorf("claim attempt %s: %w: a pod needs a name", attemptID, db.ErrConflict)
	}
	var lease Lease
	err := s.db.Write(ctx, func(c *db.Tx) (err error) {
		f, err := LockAttempt(ctx, c, attemptID, tokenID)
		switch {
		case err != nil:
			return err
		case f.Closed:
			return fmt.Errorf("%s: %w", f.Stop(), db.ErrFenced)
		case f.Claimed && f.Pod != pod:
			return fmt.Errorf("attempt %s is claimed by %s: %w", attemptID, f.Pod, db.ErrFenced)
		case f.Claimed:
			lease = RenewLease(c, f)
			return nil
		case f.Unwanted() != "":
			lease = Lease{Stop: f.Unwanted()}
			return nil
		}
		lease = Lease{Until: LeaseEnd(c)}
		_, err = c.Exec(ctx, `UPDATE attempts SET claimed_by = $2, claimed_at = $3, lease_until = $4 WHERE id = $1`,
			attemptID, pod, c.Now, lease.Until)
		if err != nil {
			return fmt.Errorf("write the claim: %w", err)
		}
		return clusters.RequestReconcile(ctx, c, f.ID)
	})
	if err != nil {
		return Lease{}, fmt.Errorf("claim attempt %s: %w", attemptID, err)
	}
	return lease, nil
}
