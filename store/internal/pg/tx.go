package pg

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// Tx is one transaction: the rows written through it, and the River jobs and audit lines that are inserted at its end.
type Tx struct {
	pgx.Tx
	DB    *DB
	Now   time.Time
	Jobs  []river.JobArgs
	lines []auditLine
}

// Write runs one change. Locks are taken in one order everywhere: the cluster's row, then its attempt's, and the audit trail's
// head last, so that whoever holds it waits for nobody.
func (s *DB) Write(ctx context.Context, do func(*Tx) error) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after the commit it does nothing
	c := &Tx{Tx: tx, DB: s}
	if err := tx.QueryRow(ctx, `SELECT coalesce($1::timestamptz, clock_timestamp())`, s.Fixed()).Scan(&c.Now); err != nil {
		return fmt.Errorf("ask the clock: %w", err)
	}
	if err := do(c); err != nil {
		return Plain(err)
	}
	queues, err := c.insertJobs(ctx)
	if err != nil {
		return err
	}
	if err := c.insertLines(ctx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return Plain(fmt.Errorf("commit: %w", err))
	}
	s.QueueNotifier.Notify(queues...)
	return nil
}

// Enqueue has the jobs inserted with the change. Duplicates are dropped.
func (c *Tx) Enqueue(jobs ...river.JobArgs) {
	for _, job := range jobs {
		if !slices.Contains(c.Jobs, job) { // all arguments are comparable structs
			c.Jobs = append(c.Jobs, job)
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
	cause := queue.Metadata(ctx)
	for i, job := range c.Jobs {
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
