package db

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// Enqueue has the jobs inserted with the change. Duplicates are dropped.
func (c *Tx) Enqueue(jobs ...river.JobArgs) {
	for _, job := range jobs {
		if _, known := c.causes[job]; !known { // all arguments are comparable structs
			c.Jobs, c.causes[job] = append(c.Jobs, job), c.cause
		}
	}
}

// insertJobs inserts in a fixed order, so that two changes that insert the same jobs cannot deadlock.
func (c *Tx) insertJobs(ctx context.Context) (queues []string, err error) {
	if len(c.Jobs) == 0 {
		return nil, nil
	}
	slices.SortFunc(c.Jobs, func(a, b river.JobArgs) int { return cmp.Compare(jobKey(a), jobKey(b)) })
	params := make([]river.InsertManyParams, len(c.Jobs))
	whole := queue.Metadata(ctx)
	for i, job := range c.Jobs {
		cause := c.causes[job]
		if cause == nil {
			cause = whole
		}
		params[i] = river.InsertManyParams{Args: job, InsertOpts: &river.InsertOpts{Metadata: cause}}
	}
	results, err := c.DB.river.InsertManyTx(ctx, c.Tx, params)
	if err != nil {
		return nil, fmt.Errorf("insert %d jobs: %w", len(params), err)
	}
	for _, r := range results {
		queues = append(queues, r.Job.Queue)
	}
	return queues, nil
}

func jobKey(job river.JobArgs) string { return fmt.Sprintf("%s %v", job.Kind(), job) }

// mostJobs is how many jobs River lists or deletes at once.
const mostJobs = 10_000

// RunNow has the waiting jobs of one kind run at once for which a condition on River's table holds.
func (c *Tx) RunNow(ctx context.Context, kind, where string, args river.NamedArgs) error {
	list, err := c.DB.river.JobListTx(ctx, c.Tx, river.NewJobListParams().Kinds(kind).First(mostJobs).
		States(rivertype.JobStateAvailable, rivertype.JobStateRetryable, rivertype.JobStateScheduled).Where(where, args))
	if err != nil {
		return fmt.Errorf("list the waiting %s jobs: %w", kind, err)
	}
	for _, job := range list.Jobs {
		if _, err := c.DB.river.JobRetryTx(ctx, c.Tx, job.ID); err != nil {
			return fmt.Errorf("have %s job %d run now: %w", kind, job.ID, err)
		}
	}
	return nil
}

// DeleteJobs deletes the waiting jobs of some kinds for which a condition on River's table holds. It returns how many.
func (s *DB) DeleteJobs(ctx context.Context, where string, kinds ...string) (n int, err error) {
	params := river.NewJobDeleteManyParams().Kinds(kinds...).First(mostJobs).
		States(rivertype.JobStateAvailable, rivertype.JobStateScheduled, rivertype.JobStateRetryable).Where(where)
	for {
		deleted, err := s.river.JobDeleteMany(ctx, params)
		if err != nil {
			return n, fmt.Errorf("delete %v jobs: %w", kinds, err)
		}
		if n += len(deleted.Jobs); len(deleted.Jobs) < mostJobs {
			return n, nil
		}
	}
}
