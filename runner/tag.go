package runner

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/status"
)

// tagResources gives the cluster's tags to what the installer could not give them to, and to what came since: every attempt that changes a living cluster
// ends with it. A cluster without tags works, and nothing of it is searched for by tag alone, so a refusal is told and ends nothing.
func (a *attempt) tagResources(ctx context.Context) {
	tagged, err := a.cloud.Tag(ctx, a.cloudTarget(), a.spec.Tags)
	if err != nil && ctx.Err() == nil {
		a.noteLine("not every resource could be tagged: %v", err)
	}
	if tagged > 0 {
		a.noteLine("%d resources have the cluster's tags", tagged)
	}
}

// tagCredentials gives the cluster's tags to what ccoctl created, right after it, so that a search by tag finds it even if nothing else is ever
// created. Its name is recorded before, and a teardown goes by that, so a refusal is repeated and told, and ends nothing.
func (a *attempt) tagCredentials(ctx context.Context) error {
	for try := 1; ; try++ {
		err := a.cloud.TagCredentials(ctx, a.cloudTarget(), a.roles)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			return nil
		case try == limitTries:
			a.noteLine("not everything that ccoctl created could be tagged: %v", err)
			return nil
		}
		a.noteLine("what ccoctl created could not be tagged, trying again (%d of %d): %v", try+1, limitTries, err)
		if status.Sleep(ctx, a.cfg.Timings.RetryMax) != nil {
			return context.Cause(ctx)
		}
	}
}

// tagAgain is an attempt of its own for the same, after a scan saw something without the cluster's tags. It asks once: the server decides
// when it is tried again.
func (a *attempt) tagAgain(ctx context.Context) (tagged int, err error) {
	err = a.beginPhase(ctx, phase{"tagging", 10, "attaching the cluster's tags to what lacks them", func(ctx context.Context) error {
		if err := a.compareAccount(ctx); err != nil {
			return err
		}
		var refused error
		tagged, refused = a.cloud.Tag(ctx, a.cloudTarget(), a.spec.Tags)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case refused != nil:
			return failure{
				Reason: "NotTagged", Whose: contract.WhoseCloud, Retryable: true,
				Message: fmt.Sprintf("%s, but some could not be tagged: %v", formatTagged(tagged), refused),
				Next:    "wait: after a later scan ocpctl tries again; if it fails again, ask an administrator to check that the runner's credentials may attach tags",
			}
		}
		return nil
	}})
	return tagged, err
}

// formatTagged says how many resources were tagged, for the attempt's message.
func formatTagged(tagged int) string {
	if tagged == 1 {
		return "1 resource got the cluster's tags"
	}
	return fmt.Sprintf("%d resources got the cluster's tags", tagged)
}
