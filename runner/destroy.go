package runner

import "context"

// runDestroy runs the phases of a teardown. A missing snapshot, an unreachable S3 or a failing installer never end it early: only the
// count at the end decides whether something is left. The account is compared first.
func (a *attempt) runDestroy(ctx context.Context) error {
	var dirs []string
	for _, p := range []phase{
		{"restoring", 2, "fetching the cluster's records", func(ctx context.Context) (err error) {
			dirs, err = a.restoreState(ctx)
			return err
		}},
		{"destroying", 10, "removing the cluster's resources", func(ctx context.Context) error { return a.destroyCluster(ctx, dirs) }},
		{"verifying", 70, "counting what is left", a.verifyGone},
	} {
		if err := a.beginPhase(ctx, p); err != nil {
			return err
		}
	}
	return nil
}
