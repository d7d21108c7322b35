package cloud

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// checksAtOnce keeps a preflight from using up the account's request rate.
const checksAtOnce = 3

// Check looks for one kind of obstacle. Its error means that the cloud did not answer.
type Check func(context.Context) ([]Problem, error)

// RunChecks runs the checks, some at once, each with a time limit, and returns the problems in the order of the checks. An error of a
// check becomes the problem that explain makes of it. The error of RunChecks is for a context that ended.
func RunChecks(ctx context.Context, limit time.Duration, explain func(error) Problem, checks ...Check) ([]Problem, error) {
	found := make([][]Problem, len(checks))
	var group errgroup.Group
	group.SetLimit(checksAtOnce)
	for i, check := range checks {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			problems, err := check(ctx)
			if err != nil {
				problems = append(problems, explain(err))
			}
			found[i] = problems
			return nil
		})
	}
	_ = group.Wait() // every error is a problem
	if ctx.Err() != nil {
		return nil, fmt.Errorf("preflight: %w", ctx.Err())
	}
	var all []Problem
	for _, problems := range found {
		all = append(all, problems...)
	}
	return all, nil
}
