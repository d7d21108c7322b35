package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// due lists work whose job may have been lost. Each statement takes rows that no other process is taking, marks them as
// enqueued, and returns what to insert.
var due = []struct {
	what, sql string
	job       func(id string, n int64) river.JobArgs
}{
	// wake_at stays as decided, so that a cluster whose reconcile fails again and again is seen as overdue. Time that passed is
	// a new fact, so pokes rises: the previous reconcile may be done but not yet recorded as completed, and would swallow
	// another of the same arguments.
	{"clusters", `
		UPDATE clusters SET nudged_at = @now, pokes = pokes + 1 WHERE id IN (
			SELECT id FROM clusters
			WHERE wake_at <= @now AND (nudged_at IS NULL OR nudged_at < wake_at OR nudged_at <= @before)
			ORDER BY wake_at LIMIT @limit FOR NO KEY UPDATE SKIP LOCKED)
		RETURNING id, pokes AS n`,
		func(id string, n int64) river.JobArgs { return queue.ReconcileArgs{Cluster: id, Pokes: n} }},
	{"subscribers", `
		UPDATE subscribers SET nudge_at = @again WHERE id IN (
			SELECT id FROM subscribers WHERE shown_version < wanted_version AND NOT muted AND nudge_at <= @now
			ORDER BY nudge_at LIMIT @limit FOR UPDATE SKIP LOCKED)
		RETURNING id, wanted_version AS n`,
		func(id string, n int64) river.JobArgs { return queue.PublishArgs{Subscriber: id, Version: n} }},
	{"deliveries", `
		UPDATE deliveries SET nudge_at = @again WHERE id IN (
			SELECT id FROM deliveries WHERE state = 'received' AND nudge_at <= @now
			ORDER BY nudge_at LIMIT @limit FOR UPDATE SKIP LOCKED)
		RETURNING '' AS id, id AS n`,
		func(_ string, n int64) river.JobArgs { return queue.InboxArgs{Row: n} }},
	{"replies", `
		UPDATE replies SET nudge_at = @again WHERE id IN (
			SELECT id FROM replies WHERE external_id = 0 AND nudge_at <= @now
			ORDER BY nudge_at LIMIT @limit FOR UPDATE SKIP LOCKED)
		RETURNING id, 0::bigint AS n`,
		func(id string, _ int64) river.JobArgs { return queue.ReplyArgs{Reply: id} }},
	{"effects", `
		UPDATE effects SET nudge_at = @again WHERE id IN (
			SELECT id FROM effects WHERE done_at IS NULL AND nudge_at <= @now
			ORDER BY nudge_at LIMIT @limit FOR UPDATE SKIP LOCKED)
		RETURNING id, 0::bigint AS n`,
		func(id string, _ int64) river.JobArgs { return queue.EffectArgs{Effect: id} }},
	{"announcements", `
		UPDATE announcements SET nudge_at = @again WHERE id IN (
			SELECT id FROM announcements WHERE done_at IS NULL AND nudge_at <= @now
			ORDER BY nudge_at LIMIT @limit FOR UPDATE SKIP LOCKED)
		RETURNING cause AS id, 0::bigint AS n`,
		func(cause string, _ int64) river.JobArgs { return queue.AnnounceArgs{Cause: cause} }},
	{"notices", `
		UPDATE notices SET nudge_at = @again WHERE id IN (
			SELECT id FROM notices WHERE shown_version < wanted_version AND given_up = '' AND nudge_at <= @now
			ORDER BY nudge_at LIMIT @limit FOR UPDATE SKIP LOCKED)
		RETURNING id, wanted_version::bigint AS n`,
		func(id string, n int64) river.JobArgs { return queue.NoticeArgs{Notice: id, Version: int(n)} }},
}

// WakeDue enqueues everything that is due: clusters past their wake-up, subscribers that show an older version (also of released
// clusters), and deliveries, replies, effects, announcements and notices that are not done. It takes at most limit of each and returns how many jobs it
// asked for; a job that is already enqueued stays single.
func (s *Store) WakeDue(ctx context.Context, limit int) (n int, err error) {
	for _, topic := range due {
		err := s.Write(ctx, func(c *db.Tx) error {
			type hit struct {
				ID string
				N  int64
			}
			hits, err := db.All[hit](ctx, c, topic.sql, pgx.NamedArgs{
				"now": c.Now, "before": c.Now.Add(-clusters.NudgeAgain), "again": c.Now.Add(clusters.NudgeAgain), "limit": limit,
			})
			if err != nil {
				return err
			}
			for _, h := range hits {
				c.Enqueue(topic.job(h.ID, h.N))
			}
			n += len(hits)
			return nil
		})
		if err != nil {
			return n, fmt.Errorf("wake due %s: %w", topic.what, err)
		}
	}
	return n, nil
}
