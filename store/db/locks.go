package db

import (
	"context"
	"time"
)

// TakeLocks takes the locks in the order of their numbers, the same for everybody, so that nobody waits in a circle. They are held until the transaction ends; Now becomes the time after the last.
func (c *Tx) TakeLocks(ctx context.Context, locks []string) error {
	var b Batch
	now := c.QueueLocks(&b, locks)
	if err := c.Send(ctx, &b); err != nil {
		return err
	}
	c.Now = now.Clock
	return nil
}

// QueueSharedLock waits for whoever holds the lock alone, as a part of a batch, and keeps them waiting until the transaction ends. Others may share it.
func QueueSharedLock(b *Batch, name string) {
	b.Do("share a lock", `SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))`, name)
}

// LockTime is the time at which the locks were held.
type LockTime struct{ Clock time.Time }

// QueueLocks is TakeLocks as a part of a batch. It returns the time, which is known when the batch was sent.
func (c *Tx) QueueLocks(b *Batch, locks []string) *LockTime {
	b.Do("wait for the locks", `WITH asked AS MATERIALIZED (
			SELECT DISTINCT hashtextextended(CASE WHEN name LIKE $2 || '%' THEN $2 || person_of(substr(name, length($2) + 1)) ELSE name END, 0) AS number
			FROM unnest($1::text[]) AS t (name) ORDER BY number)
		SELECT pg_advisory_xact_lock(number) FROM asked`, locks, personLock)
	return c.queueClock(b)
}

func (c *Tx) queueClock(b *Batch) *LockTime {
	var now LockTime
	b.Ask("ask the clock", Into(&now), `SELECT coalesce($1::timestamptz, clock_timestamp()) AS clock`, c.DB.Fixed())
	return &now
}

// personLock is the prefix of a person's lock. One of the person's principals follows: all of them give the same lock.
const personLock = "quota person "
