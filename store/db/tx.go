package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// Tx is one transaction: the rows written through it, and the River jobs and audit lines that are inserted at its end.
type Tx struct {
	pgx.Tx
	DB     *DB
	Now    time.Time
	Jobs   []river.JobArgs
	lines  []auditLine
	cause  []byte                   // of the jobs that are enqueued next, if it is not that of the whole transaction
	causes map[river.JobArgs][]byte // of the jobs, or nil
	last   Batch                    // sent with the commit
}

// Write runs one change. Locks are taken in one order everywhere: the cluster's row, then its attempt's, and the audit trail's
// head last, so that whoever holds it waits for nobody.
func (s *DB) Write(ctx context.Context, do func(*Tx) error) error {
	return s.WriteAfter(ctx, func(*Tx, *Batch) {}, do)
}

// WriteAfter is Write with statements that are sent together with the transaction's begin. They do not know its time yet.
func (s *DB) WriteAfter(ctx context.Context, first func(*Tx, *Batch), do func(*Tx) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	tx := transaction{conn}
	defer tx.end(ctx)
	c := &Tx{Tx: tx, DB: s, causes: map[river.JobArgs][]byte{}}
	var b Batch
	b.Do("begin", "begin")
	now := c.queueClock(&b)
	first(c, &b)
	if err := c.Send(ctx, &b); err != nil {
		return Plain(err)
	}
	c.Now = now.Clock
	if err := do(c); err != nil {
		return Plain(err)
	}
	queues, err := c.insertJobs(ctx)
	if err != nil {
		return err
	}
	if err := c.finish(ctx); err != nil {
		return err
	}
	s.QueueNotifier.Notify(queues...)
	s.notifyLines(c.lines)
	return nil
}

// For has the jobs that are enqueued from now on carry the cause of ctx: one transaction may be made for several requests.
func (c *Tx) For(ctx context.Context) { c.cause = queue.Metadata(ctx) }

// DoLast adds a statement whose result the change does not read. It is sent with the commit.
func (c *Tx) DoLast(what, sql string, args ...any) { c.last.Do(what, sql, args...) }

// finish writes the audit lines and commits in one round trip: the audit trail's lock is not held for longer.
func (c *Tx) finish(ctx context.Context) error {
	c.queueLines(&c.last)
	c.last.Ask("commit", checkCommit, "commit")
	return Plain(c.Send(ctx, &c.last))
}

// checkCommit makes an error of a commit that rolled back instead, because a statement had failed.
func checkCommit(rows pgx.Rows) error {
	rows.Close()
	if err := rows.Err(); err != nil {
		return err
	}
	if rows.CommandTag().String() != "COMMIT" {
		return pgx.ErrTxCommitRollback
	}
	return nil
}
