package runner

import (
	"context"
	"time"
)

// persist repeats what needs S3 until it works or patience is over; it ends at once with the context's cause.
// S3 that is away for a while is no reason to give an attempt up, as long as the lease is renewed meanwhile.
func (a *attempt) persist(ctx context.Context, patience time.Duration, what string, try func(context.Context) error) error {
	until := time.Now().Add(patience)
	for wait := a.cfg.Timings.RetryMin; ; wait = min(2*wait, a.cfg.Timings.RetryMax) {
		err := try(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case time.Now().After(until):
			return err
		}
		a.cfg.Log.Warn("artifact store did not work, trying again", "what", what, "err", err.Error())
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}
