package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// change is one transaction: the rows written through it, and the River jobs and audit lines that are inserted at its end.
type change struct {
	pgx.Tx
	store *Store
	now   time.Time
	jobs  []river.JobArgs
	lines []auditLine
}

// write runs one change. Locks are taken in one order everywhere: the cluster's row, then its attempt's, and the audit trail's
// head last, so that whoever holds it waits for nobody.
func (s *Store) write(ctx context.Context, do func(*change) error) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after the commit it does nothing
	c := &change{Tx: tx, store: s}
	if err := tx.QueryRow(ctx, `SELECT coalesce($1::timestamptz, clock_timestamp())`, s.fixed()).Scan(&c.now); err != nil {
		return fmt.Errorf("ask the clock: %w", err)
	}
	if err := do(c); err != nil {
		return plain(err)
	}
	queues, err := c.insertJobs(ctx)
	if err != nil {
		return err
	}
	if err := c.insertLines(ctx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return plain(fmt.Errorf("commit: %w", err))
	}
	s.queueNotifier.notify(queues...)
	return nil
}

// enqueue has the jobs inserted with the change. Duplicates are dropped.
func (c *change) enqueue(jobs ...river.JobArgs) {
	for _, job := range jobs {
		if !slices.Contains(c.jobs, job) { // all arguments are comparable structs
			c.jobs = append(c.jobs, job)
		}
	}
}

// insertJobs inserts in a fixed order, so that two changes that insert the same jobs cannot deadlock.
func (c *change) insertJobs(ctx context.Context) (queues []string, err error) {
	if len(c.jobs) == 0 {
		return nil, nil
	}
	slices.SortFunc(c.jobs, func(a, b river.JobArgs) int { return cmp.Compare(jobKey(a), jobKey(b)) })
	params := make([]river.InsertManyParams, len(c.jobs))
	for i, job := range c.jobs {
		params[i] = river.InsertManyParams{Args: job}
	}
	results, err := c.store.river.InsertManyTx(ctx, c.Tx, params)
	if err != nil {
		return nil, fmt.Errorf("insert %d jobs: %w", len(params), err)
	}
	for _, r := range results {
		queues = append(queues, r.Job.Queue)
	}
	return queues, nil
}

func jobKey(job river.JobArgs) string { return fmt.Sprintf("%s %v", job.Kind(), job) }

// requestReconcile counts a new fact about the cluster and enqueues a reconcile.
func (c *change) requestReconcile(ctx context.Context, cluster string) error {
	var pokes int64
	err := c.QueryRow(ctx, `UPDATE clusters SET pokes = pokes + 1 WHERE id = $1 RETURNING pokes`, cluster).Scan(&pokes)
	if err != nil {
		return fmt.Errorf("poke %s: %w", cluster, err)
	}
	c.enqueue(ReconcileArgs{Cluster: cluster, Pokes: pokes})
	return nil
}

// publish enqueues an update of every subscriber of the cluster.
func (c *change) publish(ctx context.Context, cluster string, version int64) error {
	rows, err := c.Query(ctx, `
		UPDATE subscribers SET wanted_version = @version, nudge_at = @nudge
		WHERE cluster_id = @cluster AND NOT muted AND NOT left_behind RETURNING id`,
		pgx.NamedArgs{"version": version, "cluster": cluster, "nudge": c.now.Add(nudgeSoon)})
	if err != nil {
		return fmt.Errorf("tell the subscribers of %s: %w", cluster, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("tell the subscribers of %s: %w", cluster, err)
	}
	for _, id := range ids {
		c.enqueue(PublishArgs{Subscriber: id, Version: version})
	}
	return nil
}
