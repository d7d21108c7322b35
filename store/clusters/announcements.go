package clusters

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// The events that the store announces, spelt as package chatops/blocks does.
const (
	EventReady     = "ready"
	EventFailed    = "failed"
	EventExpiring  = "expiring"
	EventResting   = "resting"
	EventIdle      = "idle"
	EventBlocked   = "blocked"
	EventDestroyed = "destroyed"
	EventApproval  = "approval"
	EventFinding   = "finding"
	EventBudget    = "budget"

	EventHandoverEnded     = "handover_ended"
	EventSubscriptionEnded = "subscription_ended"
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

const announce = `
	INSERT INTO announcements (cause, event, cluster_id, facts, created_at, nudge_at)
	VALUES (@cause, @event, nullif(@cluster, ''), @facts, @now, @nudge) ON CONFLICT (cause) DO NOTHING`

// announcementArgs are the arguments of announce.
func announcementArgs(c *db.Tx, a Announcement) pgx.NamedArgs {
	facts := a.Facts
	if len(facts) == 0 {
		facts = json.RawMessage(`{}`)
	}
	return pgx.NamedArgs{"cause": a.Cause, "event": a.Event, "cluster": a.Cluster, "facts": facts, "now": c.Now, "nudge": c.Now.Add(NudgeAgain)}
}

// Announce writes an announcement with the change, and asks for a job that finds out who hears of it. It does nothing if the cause was
// announced before.
func Announce(_ context.Context, c *db.Tx, a Announcement) error {
	c.DoLast("announce "+a.Event, announce, announcementArgs(c, a))
	c.Enqueue(queue.AnnounceArgs{Cause: a.Cause})
	return nil
}

// AnnounceFirst is Announce for whoever has to know whether the cause was announced before. Of several changes at once, one is the first;
// the others wait for its end.
func AnnounceFirst(ctx context.Context, c *db.Tx, a Announcement) (first bool, err error) {
	tag, err := c.Exec(ctx, announce, announcementArgs(c, a))
	if err != nil {
		return false, fmt.Errorf("announce %s: %w", a.Event, err)
	}
	if first = tag.RowsAffected() == 1; first {
		c.Enqueue(queue.AnnounceArgs{Cause: a.Cause})
	}
	return first, nil
}

// RefreshNotices makes new versions of notices, and asks for jobs that show them. where chooses them, as n; set is what changes beside
// the version, or empty.
func RefreshNotices(ctx context.Context, c *db.Tx, where, set string, args pgx.NamedArgs) error {
	if set != "" {
		set += ", "
	}
	args["nudge"] = c.Now.Add(NudgeAgain)
	found, err := db.All[struct {
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

// RefreshOutdated has the notices of clusters brought up to date, also those that are being posted at this moment, whose buttons may no
// longer do what they say: its end moved, an approval was decided, it goes, or it was requested again.
func RefreshOutdated(ctx context.Context, c *db.Tx, clusters ...string) error {
	return RefreshNotices(ctx, c, `n.cluster_id = ANY (@clusters) AND n.kind = ANY (@kinds) AND n.given_up = ''`, "",
		pgx.NamedArgs{"clusters": clusters, "kinds": []string{EventReady, EventFailed, EventExpiring, EventResting, EventIdle, EventApproval, EventBlocked}})
}

// AnnounceBudget announces the parts of a team's budget that are reached, each once a month.
func AnnounceBudget(ctx context.Context, c *db.Tx, reached []usage.Threshold) error {
	for _, t := range reached {
		facts, err := json.Marshal(t)
		if err != nil {
			return fmt.Errorf("encode a budget: %w", err)
		}
		cause := fmt.Sprintf("budget:%s:%s:%d", c.Now.UTC().Format("2006-01"), t.Team, t.Percent)
		if err := Announce(ctx, c, Announcement{Cause: cause, Event: EventBudget, Facts: facts}); err != nil {
			return err
		}
	}
	return nil
}

// JudgeRise judges a change as usage.JudgeRise does, and announces what part of the budget is reached with it.
func JudgeRise(ctx context.Context, c *db.Tx, cur usage.Held, next lifecycle.Cluster, a *usage.Afford) (warning string, err error) {
	warning, reached, err := usage.JudgeRise(ctx, c, cur, next, a)
	if err != nil {
		return "", err
	}
	return warning, AnnounceBudget(ctx, c, reached)
}

// AnnounceFinding announces a finding that is new. A blocked teardown is announced by the cluster's own move, an orphan by the scan that
// tells it.
func AnnounceFinding(ctx context.Context, c *db.Tx, f lifecycle.Finding) error {
	if f.Kind == lifecycle.Blocked || f.Kind == lifecycle.Orphan {
		return nil
	}
	facts, err := json.Marshal(map[string]any{"finding": f.Kind, "identity": f.Identity, "why": f.Why, "evidence": f.Evidence})
	if err != nil {
		return fmt.Errorf("encode a finding: %w", err)
	}
	cause := fmt.Sprintf("finding:%s:%s%s:%d", f.Kind, f.Cluster, f.Identity, c.Now.UnixMicro())
	return Announce(ctx, c, Announcement{Cause: cause, Event: EventFinding, Cluster: f.Cluster, Facts: facts})
}
