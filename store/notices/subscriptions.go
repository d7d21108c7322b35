package notices

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

const subscriptionColumns = `id, workspace, channel, team, repo, events, created_by, claims, created_at`

// Subscribe adds to what a channel wants to hear of the same team and repository. The reply's outcome has the events before and after.
func (s *Store) Subscribe(ctx context.Context, sub Subscription, d clusters.Origin) error {
	return s.subscribe(ctx, sub, true, d)
}

// ReplaceSubscription replaces what a channel wants to hear of the same team and repository.
func (s *Store) ReplaceSubscription(ctx context.Context, sub Subscription, d clusters.Origin) error {
	return s.subscribe(ctx, sub, false, d)
}

func (s *Store) subscribe(ctx context.Context, sub Subscription, add bool, d clusters.Origin) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		before, err := eventsOf(ctx, c, sub)
		if err != nil {
			return err
		}
		after := slices.Clone(sub.Events)
		if add {
			after = slices.Compact(slices.Sorted(slices.Values(slices.Concat(before, sub.Events))))
		}
		err = subscribe(ctx, c, sub, after)
		if err != nil {
			return err
		}
		if !slices.Equal(before, after) {
			if err := clusters.RecordAction(c, d, "subscribed", "", clusters.Action{Before: before, After: after, Note: sub.about()}); err != nil {
				return err
			}
		}
		return clusters.SaveReplyOnce(ctx, c, d.Reply, clusters.Outcome{EventsBefore: before, EventsAfter: after})
	})
	if err != nil {
		return fmt.Errorf("subscribe channel %s: %w", sub.Channel, err)
	}
	return nil
}

// eventsOf returns the events of a subscription, which it locks; none: there is no such subscription.
func eventsOf(ctx context.Context, c *db.Tx, sub Subscription) (events []string, err error) {
	err = c.QueryRow(ctx, `
		SELECT events FROM channel_subscriptions WHERE (workspace, channel, team, repo) = ($1, $2, $3, $4) FOR UPDATE`,
		sub.Workspace, sub.Channel, sub.Team, sub.Repo).Scan(&events)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return events, err
}

// subscribe writes a subscription.
func subscribe(ctx context.Context, c *db.Tx, sub Subscription, events []string) error {
	_, err := c.Exec(ctx, `
		INSERT INTO channel_subscriptions (id, workspace, channel, team, repo, events, created_by, claims, created_at)
		VALUES (@id, @workspace, @channel, @team, @repo, @events, @by, @claims::jsonb, @now)
		ON CONFLICT (workspace, channel, team, repo) DO UPDATE SET events = excluded.events, created_by = excluded.created_by, claims = excluded.claims`,
		pgx.NamedArgs{"id": db.NewID("sbn"), "workspace": sub.Workspace, "channel": sub.Channel, "team": sub.Team, "repo": sub.Repo, "events": events,
			"by": sub.CreatedBy, "claims": db.JSON(sub.Claims), "now": c.Now})
	return err
}

// about names what a subscription is about, for the audit trail.
func (s Subscription) about() string {
	about := "channel " + s.Channel + " of workspace " + s.Workspace
	if s.Team != "" {
		about += ", team " + s.Team
	}
	if s.Repo != "" {
		about += ", repository " + s.Repo
	}
	return about
}

// Unsubscribe removes what a channel is subscribed to, for one team and repository (empty: for all of them). ErrNotFound: there
// is no such subscription.
func (s *Store) Unsubscribe(ctx context.Context, sub Subscription, d clusters.Origin) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		was, err := db.One[Subscription](ctx, c, `
			DELETE FROM channel_subscriptions WHERE workspace = $1 AND channel = $2 AND team = $3 AND repo = $4
			RETURNING `+subscriptionColumns, sub.Workspace, sub.Channel, sub.Team, sub.Repo)
		if err != nil {
			return err
		}
		if err := clusters.RecordAction(c, d, "unsubscribed", "", clusters.Action{Before: was.Events, Note: was.about()}); err != nil {
			return err
		}
		return clusters.SaveReplyOnce(ctx, c, d.Reply, clusters.Outcome{})
	})
	if err != nil {
		return fmt.Errorf("unsubscribe channel %s: %w", sub.Channel, err)
	}
	return nil
}

// End ends a subscription because of whoever made it, and announces that to its channel. It does nothing if somebody changed or ended the
// subscription since it was read.
func (s *Store) End(ctx context.Context, sub Subscription, why Ending) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		tag, err := c.Exec(ctx, `DELETE FROM channel_subscriptions WHERE id = $1 AND created_by = $2 AND events = $3`, sub.ID, sub.CreatedBy, sub.Events)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		facts, err := json.Marshal(map[string]any{
			"ended": why, "workspace": sub.Workspace, "channel": sub.Channel, "team": sub.Team, "repo": sub.Repo, "events": sub.Events,
		})
		if err != nil {
			return fmt.Errorf("tell the channel: %w", err)
		}
		if err := clusters.Announce(ctx, c, clusters.Announcement{Cause: sub.ID + ":ended", Event: clusters.EventSubscriptionEnded, Facts: facts}); err != nil {
			return err
		}
		return clusters.RecordAction(c, clusters.Origin{Actor: db.Lifecycle}, "subscription_ended", "", clusters.Action{
			Before: sub.Events, After: map[string]any{"ended": why, "made_by": sub.CreatedBy}, Note: sub.about(),
		})
	})
	if err != nil {
		return fmt.Errorf("end the subscription of channel %s: %w", sub.Channel, err)
	}
	return nil
}

// Judged records that a subscription was judged now, and goes on.
func (s *Store) Judged(ctx context.Context, sub Subscription) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		_, err := c.Exec(ctx, `UPDATE channel_subscriptions SET judged_at = $2 WHERE id = $1`, sub.ID, c.Now)
		return err
	})
	if err != nil {
		return fmt.Errorf("record that the subscription of channel %s was judged: %w", sub.Channel, err)
	}
	return nil
}

// All lists the subscriptions of all workspaces. Those that were judged longest ago come first.
func (s *Store) All(ctx context.Context) ([]Subscription, error) {
	list, err := db.All[Subscription](ctx, s.db.Pool(), `SELECT `+subscriptionColumns+` FROM channel_subscriptions ORDER BY judged_at, workspace, channel, team, repo`)
	if err != nil {
		return nil, fmt.Errorf("list all subscriptions: %w", err)
	}
	return list, nil
}

// Subscriptions lists a workspace's subscriptions: of one channel, or of all (an empty channel).
func (s *Store) Subscriptions(ctx context.Context, workspace, channel string) ([]Subscription, error) {
	list, err := db.All[Subscription](ctx, s.db.Pool(), `
		SELECT `+subscriptionColumns+` FROM channel_subscriptions WHERE workspace = $1 AND ($2 = '' OR channel = $2) ORDER BY channel, team, repo`,
		workspace, channel)
	if err != nil {
		return nil, fmt.Errorf("list the subscriptions of channel %s: %w", channel, err)
	}
	return list, nil
}

// Subscribed lists the subscriptions to an event of a team's clusters, or of a repository's.
func (s *Store) Subscribed(ctx context.Context, event, team, repo string) ([]Subscription, error) {
	list, err := db.All[Subscription](ctx, s.db.Pool(), `
		SELECT `+subscriptionColumns+` FROM channel_subscriptions
		WHERE $1 = ANY (events) AND team IN ('', $2) AND repo IN ('', lower($3::text)) ORDER BY workspace, channel, team, repo`, event, team, repo)
	if err != nil {
		return nil, fmt.Errorf("look who subscribed to %s: %w", event, err)
	}
	return list, nil
}

// TeamsSubscribed lists the teams of the subscriptions to an event that name a team and no repository.
func (s *Store) TeamsSubscribed(ctx context.Context, event string) ([]string, error) {
	list, err := db.All[struct{ Team string }](ctx, s.db.Pool(), `
		SELECT DISTINCT team FROM channel_subscriptions WHERE $1 = ANY (events) AND team <> '' AND repo = '' ORDER BY team`, event)
	if err != nil {
		return nil, fmt.Errorf("list the teams of subscriptions to %s: %w", event, err)
	}
	var teams []string
	for _, l := range list {
		teams = append(teams, l.Team)
	}
	return teams, nil
}
