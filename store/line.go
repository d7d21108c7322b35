package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// lineIn reads where a cluster stands in line; the zero Line where it waits for nothing.
func lineIn(ctx context.Context, tx pgx.Tx, cluster lifecycle.Cluster) (lifecycle.Line, error) {
	if cluster.Status != lifecycle.Pending && cluster.Status != lifecycle.Creating {
		return lifecycle.Line{}, nil
	}
	type place struct {
		Place   int
		Words   string
		Since   time.Time
		AskedAt time.Time
		Asked   int
		FreedAt *time.Time
	}
	rows, err := all[place](ctx, tx, `
		SELECT 1 + (SELECT count(*) FROM reservations r JOIN clusters c ON c.id = r.cluster_id
				WHERE r.account = mine.account AND r.region = mine.region AND r.state = 'waiting' AND c.wish = 'present'
					AND c.destroyed_at IS NULL AND (c.created_at, c.id) < (m.created_at, m.id)) AS place,
			mine.words, mine.since, mine.asked_at, mine.place AS asked,
			(SELECT max(f.freed_at) FROM reservations f WHERE f.account = mine.account AND f.region = mine.region) AS freed_at
		FROM reservations mine JOIN clusters m ON m.id = mine.cluster_id
		WHERE mine.cluster_id = $1 AND mine.state = 'waiting' AND m.wish = 'present'`, cluster.ID)
	if err != nil || len(rows) == 0 {
		return lifecycle.Line{}, err
	}
	r := rows[0]
	return lifecycle.Line{
		Place: r.Place, For: r.Words, Since: r.Since, AskedAt: r.AskedAt, Asked: r.Asked, FreedAt: zero(r.FreedAt),
	}, nil
}

// givesRoom reports a move after which a cluster may hold less, or no longer stands in line.
func givesRoom(was, next lifecycle.Cluster) bool {
	return was.Status != next.Status && (next.Status == lifecycle.Ready || next.Status == lifecycle.Destroyed) ||
		was.Wish != next.Wish || was.Seen != next.Seen
}

// freeRoom notes that the cluster gave room back, if it did, and has those in line told.
func (c *change) freeRoom(ctx context.Context, next lifecycle.Cluster) error {
	type room struct{ Account, Region string }
	freed, err := all[room](ctx, c, `
		UPDATE reservations r SET freed_at = @now FROM attempts a
		WHERE r.cluster_id = @cluster AND a.id = r.attempt_id AND CASE r.state
			WHEN 'waiting' THEN @unwanted AND coalesce(r.freed_at < r.asked_at, true)
			ELSE @less OR (a.closed_at IS NOT NULL AND a.recorded_at IS NULL AND coalesce(r.freed_at < r.asked_at, true)) END
		RETURNING r.account, r.region`,
		pgx.NamedArgs{
			"cluster": next.ID, "now": c.now, "unwanted": next.Wish == lifecycle.Absent,
			"less": next.Status == lifecycle.Ready || next.Status == lifecycle.Destroyed,
		})
	if err != nil {
		return fmt.Errorf("note the room that %s gave back: %w", next.ID, err)
	}
	for _, r := range freed {
		c.enqueue(LineArgs{Account: r.Account, Region: r.Region, News: ulid.Make().String()})
	}
	return nil
}

// leaveLine refuses an attempt that was told to wait for room. One that never asked, after an earlier one that waited, goes
// on without room set aside, and its cluster waits no more.
func (c *change) leaveLine(ctx context.Context, f fenced) error {
	before, err := c.reservation(ctx, pgx.NamedArgs{"cluster": f.ID})
	switch {
	case err != nil:
		return fmt.Errorf("read the line of %s: %w", f.ID, err)
	case before.State != waiting:
		return nil
	case before.Attempt == f.id:
		return fmt.Errorf("%w: the attempt was told to wait for room", ErrConflict)
	}
	if _, err := c.Exec(ctx, `DELETE FROM reservations WHERE cluster_id = $1`, f.ID); err != nil {
		return fmt.Errorf("leave the line: %w", err)
	}
	c.enqueue(LineArgs{Account: before.Account, Region: before.Region, News: ulid.Make().String()})
	return nil
}

// MoveUp has a look taken at every cluster in line for room in an account and region: places moved, or room came free.
// One change for each, so that none holds up another.
func (s *Store) MoveUp(ctx context.Context, account, region string) (n int, err error) {
	rows, err := s.pool.Query(ctx, `SELECT r.cluster_id`+inLine+` ORDER BY c.created_at, c.id`, pgx.NamedArgs{"account": account, "region": region})
	if err != nil {
		return 0, fmt.Errorf("read the line of %s in %s: %w", account, region, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("read the line of %s in %s: %w", account, region, err)
	}
	for _, id := range ids {
		if err := s.write(ctx, func(c *change) error { return c.poke(ctx, id) }); err != nil {
			return 0, fmt.Errorf("move up %s: %w", id, err)
		}
	}
	return len(ids), nil
}
