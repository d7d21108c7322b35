package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// topic is a table with work whose job may have been lost.
type topic struct {
	table, due string // due: as a condition
	since, set string // the column that orders what is due, and what marks it as enqueued; empty: one job is for all, and nothing is marked
	found      string // what names the job
	job        func(id string, n int64) river.JobArgs
}

var topics = []topic{
	// wake_at stays as decided, so that a cluster whose reconcile fails again and again is seen as overdue. Time that passed is
	// a new fact, so pokes rises: the previous reconcile may be done but not yet recorded as completed, and would swallow
	// another of the same arguments. With the bound of minus infinity PostgreSQL expects few due ones, and reads their index.
	{"clusters", "wake_at > '-infinity' AND wake_at <= @now AND (nudged_at IS NULL OR nudged_at < wake_at OR nudged_at <= @before)", "wake_at", "nudged_at = @now, pokes = pokes + 1", "id, pokes AS n",
		func(id string, n int64) river.JobArgs { return queue.ReconcileArgs{Cluster: id, Pokes: n} }},
	rowTopic("subscribers", "shown_version < wanted_version AND NOT muted", "id, wanted_version AS n",
		func(id string, n int64) river.JobArgs { return queue.PublishArgs{Subscriber: id, Version: n} }),
	rowTopic("deliveries", "state = 'received'", "'' AS id, id AS n",
		func(_ string, n int64) river.JobArgs { return queue.InboxArgs{Row: n} }),
	rowTopic("replies", "external_id = 0", "id, 0::bigint AS n",
		func(id string, _ int64) river.JobArgs { return queue.ReplyArgs{Reply: id} }),
	rowTopic("effects", "done_at IS NULL", "id, 0::bigint AS n",
		func(id string, _ int64) river.JobArgs { return queue.EffectArgs{Effect: id} }),
	rowTopic("announcements", "done_at IS NULL", "cause AS id, 0::bigint AS n",
		func(cause string, _ int64) river.JobArgs { return queue.AnnounceArgs{Cause: cause} }),
	rowTopic("notices", "shown_version < wanted_version AND given_up = ''", "id, wanted_version::bigint AS n",
		func(id string, n int64) river.JobArgs { return queue.NoticeArgs{Notice: id, Version: int(n)} }),
	// What opens a breaker triggers a look itself; an open one is tried and closed when its time has come.
	{table: "breakers", due: "closed_at IS NULL", job: func(string, int64) river.JobArgs { return queue.BreakersArgs{} }},
}

// rowTopic is a topic whose rows say when their job counts as lost.
func rowTopic(table, due, found string, job func(id string, n int64) river.JobArgs) topic {
	return topic{table, due + " AND nudge_at <= @now", "nudge_at", "nudge_at = @again", found, job}
}

// lookWhatIsDue has a column for each topic: whether anything is due.
var lookWhatIsDue = func() string {
	columns := make([]string, len(topics))
	for i, t := range topics {
		columns[i] = "EXISTS (SELECT FROM " + t.table + " WHERE " + t.due + ")"
	}
	return "SELECT ARRAY[" + strings.Join(columns, ", ") + "]"
}()

// WakeDue enqueues everything that is due: clusters past their wake-up, subscribers that show an older version (also of released
// clusters), and deliveries, replies, effects, announcements, notices and breakers that are not done. It takes at most limit of each and returns how many jobs it
// asked for; a job that is already enqueued stays single. Usually nothing is due, which one look tells.
func (s *Store) WakeDue(ctx context.Context, limit int) (n int, err error) {
	now, err := s.Now(ctx)
	var due []bool
	if err == nil {
		err = s.Pool().QueryRow(ctx, lookWhatIsDue, dueArgs(now, limit)).Scan(&due)
	}
	if err != nil {
		return 0, fmt.Errorf("look what is due: %w", err)
	}
	for i, t := range topics {
		if !due[i] {
			continue
		}
		woken, err := s.wakeTopic(ctx, t, limit)
		if n += woken; err != nil {
			return n, fmt.Errorf("wake due %s: %w", t.table, err)
		}
	}
	return n, nil
}

func dueArgs(now time.Time, limit int) pgx.NamedArgs {
	return pgx.NamedArgs{"now": now, "before": now.Add(-clusters.NudgeAgain), "again": now.Add(clusters.NudgeAgain), "limit": limit}
}

// wakeTopic takes rows that no other process is taking, marks them as enqueued, and inserts their jobs.
func (s *Store) wakeTopic(ctx context.Context, t topic, limit int) (n int, err error) {
	err = s.Write(ctx, func(c *db.Tx) error {
		if t.set == "" {
			c.Enqueue(t.job("", 0))
			n = 1
			return nil
		}
		hits, err := db.All[struct {
			ID string
			N  int64
		}](ctx, c, "UPDATE "+t.table+" SET "+t.set+" WHERE id IN (SELECT id FROM "+t.table+" WHERE "+t.due+" ORDER BY "+t.since+
			" LIMIT @limit FOR NO KEY UPDATE SKIP LOCKED) RETURNING "+t.found, dueArgs(c.Now, limit))
		for _, h := range hits {
			c.Enqueue(t.job(h.ID, h.N))
		}
		n = len(hits)
		return err
	})
	return n, err
}
