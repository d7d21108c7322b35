package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/runs"
)

// warning is what is stored of a warning: the end, and how long before it this one is.
type warning struct {
	End    time.Time     `json:"end"`
	Before time.Duration `json:"before"`
}

// resting is what is stored of a warning that a schedule puts a cluster to sleep.
type resting struct {
	End time.Time `json:"end"` // when it falls asleep
}

// idle is what is stored of a notice that nobody uses a cluster.
type idle struct {
	Since  time.Time `json:"since"`           // when it was last used, as far as ocpctl knows
	Sleeps time.Time `json:"sleeps,omitzero"` // when it is put to sleep; zero: it is not
	End    time.Time `json:"end,omitzero"`    // when it ends for that; zero: it does not

	Unobserved bool `json:"unobserved,omitempty"` // nobody could look inside it for people's requests
}

// announce writes what a move means for those who want to hear of the cluster, and has what they were told before brought up to date.
func announce(ctx context.Context, c *db.Tx, cur lifecycle.Cluster, d lifecycle.Decision) error {
	n := d.Next
	say := func(event, which string, facts any) error {
		raw, err := json.Marshal(facts)
		if err != nil {
			return fmt.Errorf("encode the facts of %s: %w", event, err)
		}
		return clusters.Announce(ctx, c, clusters.Announcement{Cause: n.ID + ":" + event + which, Event: event, Cluster: n.ID, Facts: raw})
	}
	var err error
	switch {
	case cur.ReadyAt.IsZero() && !n.ReadyAt.IsZero() && n.Status == lifecycle.Ready && !n.Pooled: // nobody waits for a pool's
		err = say(clusters.EventReady, "", struct{}{})
	case n.Phase == lifecycle.CreateFailed && cur.Phase != n.Phase:
		err = say(clusters.EventFailed, "", struct{}{})
	case n.Phase == lifecycle.DestroyBlocked && cur.Phase != n.Phase: // once for each time that it becomes blocked
		err = say(clusters.EventBlocked, fmt.Sprintf(":%d", n.Seen), struct{}{})
	case n.Phase == lifecycle.Released && cur.Phase != n.Phase && cur.Seen > 0: // something may have existed
		err = say(clusters.EventDestroyed, timesReopened(n), struct{}{})
	case d.Warn > 0:
		end := n.WarnedEnd.UTC()
		err = say(clusters.EventExpiring, fmt.Sprintf(":%d:%s", end.UnixMicro(), d.Warn), warning{end, d.Warn})
	}
	if err == nil && d.WarnRest {
		at := n.RestWarned.UTC()
		err = say(clusters.EventResting, fmt.Sprintf(":%d", at.UnixMicro()), resting{at})
	}
	if err == nil && d.TellIdle {
		err = say(clusters.EventIdle, fmt.Sprintf(":%d", n.IdleTold.UnixMicro()), idle{n.UnusedSince().UTC(), n.IdleSleepAt().UTC(), n.Ends.Idle.UTC(), d.Unobserved})
	}
	if err != nil {
		return err
	}
	if state := lifecycle.SignalOf(n); state != lifecycle.SignalOf(cur) {
		if err := runs.TellSignals(ctx, c, n.ID, state); err != nil {
			return err
		}
	}
	if state := lifecycle.WaitOf(n); state != lifecycle.WaitOf(cur) {
		if err := runs.TellWaits(ctx, c, n.ID, state, n.Seen); err != nil {
			return err
		}
	}
	if cur.Desired == n.Desired && cur.ReleasedAt.Equal(n.ReleasedAt) {
		return nil
	}
	return clusters.RefreshOutdated(ctx, c, n.ID)
}

// timesReopened tells the releases of a cluster apart whose teardown was opened again.
func timesReopened(c lifecycle.Cluster) string {
	if c.Reopened == 0 {
		return ""
	}
	return fmt.Sprintf(":%d", c.Reopened)
}

// announceApproval announces that an approval is waited for.
func announceApproval(ctx context.Context, c *db.Tx, cluster, approval string) error {
	raw, err := json.Marshal(map[string]string{"approval": approval})
	if err != nil {
		return err
	}
	return clusters.Announce(ctx, c, clusters.Announcement{Cause: approval, Event: clusters.EventApproval, Cluster: cluster, Facts: raw})
}
