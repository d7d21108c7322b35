package runner

import (
	"context"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/runner/status"
)

// storing names, for people, what is stored in S3; the default is the artifact store.
var storing = map[string]string{
	string(artifacts.Destroy): "storing the archive for the teardown", string(artifacts.Operate): "storing the archive with the credentials",
	"attempt record": "storing the record of this attempt",
	"restore":        "reading the archive for the teardown", "kubeconfig": "reading the kubeconfig",
}

// keepTrying retries what needs S3 until it works or patience is over; it ends at once with the context's cause. A temporary outage of
// S3 does not end an attempt as long as its lease is renewed.
func (a *attempt) keepTrying(ctx context.Context, patience time.Duration, what string, try func(context.Context) error) error {
	step := storing[what]
	if step == "" {
		step = "the artifact store"
	}
	defer a.say.Recovered(step)
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
		a.say.Retrying(step, err)
		a.cfg.Log.Warn("artifact store failed, retrying", "what", what, "err", err.Error())
		if err := status.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}
