package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/internal/pg"
)

// The events that the store announces, spelt as package chatops/blocks does.
const (
	EventReady     = "ready"
	EventFailed    = "failed"
	EventExpiring  = "expiring"
	EventBlocked   = "blocked"
	EventDestroyed = "destroyed"
	EventApproval  = "approval"
	EventFinding   = "finding"
	EventBudget    = "budget"
)

// Announcement is something that happened, of which somebody may want to hear.
type Announcement struct {
	ID        int64  // filled by the store
	Cause     string // unique: the same cause is announced once
	Event     string
	Cluster   string          // id; empty: it concerns none
	Facts     json.RawMessage // what is told beyond the cluster itself; nil: nothing. It holds no secret
	CreatedAt time.Time       // filled by the store
}

// Announce writes an announcement with the change, and asks for a job that finds out who hears of it. It does nothing if the cause was
// announced before.
func (c *Tx) Announce(_ context.Context, a Announcement) error {
	facts := a.Facts
	if len(facts) == 0 {
		facts = json.RawMessage(`{}`)
	}
	c.DoLast("announce "+a.Event, `
		INSERT INTO announcements (cause, event, cluster_id, facts, created_at, nudge_at)
		VALUES (@cause, @event, nullif(@cluster, ''), @facts, @now, @nudge) ON CONFLICT (cause) DO NOTHING`,
		pgx.NamedArgs{"cause": a.Cause, "event": a.Event, "cluster": a.Cluster, "facts": facts, "now": c.Now, "nudge": c.Now.Add(NudgeAgain)})
	c.Enqueue(queue.AnnounceArgs{Cause: a.Cause})
	return nil
}

// RefreshNotices makes new versions of notices, and asks for jobs that show them. where chooses them, as n; set is what changes beside
// the version, or empty.
func (c *Tx) RefreshNotices(ctx context.Context, where, set string, args pgx.NamedArgs) error {
	if set != "" {
		set += ", "
	}
	args["nudge"] = c.Now.Add(NudgeAgain)
	found, err := pg.All[struct {
		ID      string
		Version int
	}](ctx, c, `UPDATE notices n SET `+set+`wanted_version = n.wanted_version + 1, nudge_at = @nudge WHERE `+where+` RETURNING n.id, n.wanted_version AS version`, args)
	if err != nil {
		return fmt.Errorf("refresh notices: %w", err)
	}
	for _, n := range found {
		c.Enqueue(queue.NoticeArgs{Notice: n.ID, Version: n.Version})
	}
	return nil
}
