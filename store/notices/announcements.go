package notices

import (
	"context"
	"errors"
	"fmt"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Announce writes an announcement by itself. What happens in a change is announced with clusters.Announce, in its transaction.
func (s *Store) Announce(ctx context.Context, a clusters.Announcement) error {
	err := s.db.Write(ctx, func(c *db.Tx) error { return clusters.Announce(ctx, c, a) })
	if err != nil {
		return fmt.Errorf("announce %s: %w", a.Cause, err)
	}
	return nil
}

// AnnounceTogether writes announcements in one transaction, or none of them if the first one's cause was announced before.
func (s *Store) AnnounceTogether(ctx context.Context, first clusters.Announcement, others []clusters.Announcement) (fresh bool, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		if fresh, err = clusters.AnnounceFirst(ctx, c, first); err != nil || !fresh {
			return err
		}
		for _, a := range others {
			if err := clusters.Announce(ctx, c, a); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("announce %s and %d more: %w", first.Cause, len(others), err)
	}
	return fresh, nil
}

// IsAnnounced reports whether a cause was announced, as long as its announcement is kept.
func (s *Store) IsAnnounced(ctx context.Context, cause string) (is bool, err error) {
	if err := s.db.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT FROM announcements WHERE cause = $1)`, cause).Scan(&is); err != nil {
		return false, fmt.Errorf("look for the announcement of %s: %w", cause, err)
	}
	return is, nil
}

// Announcement returns what happened for a cause, unless its notices were written. ErrNotFound: they were, or there is none.
func (s *Store) Announcement(ctx context.Context, cause string) (clusters.Announcement, error) {
	a, err := db.One[clusters.Announcement](ctx, s.db.Pool(), `
		SELECT id, cause, event, coalesce(cluster_id, '') AS cluster, facts, created_at FROM announcements WHERE cause = $1 AND done_at IS NULL`, cause)
	if err != nil {
		return clusters.Announcement{}, fmt.Errorf("read the announcement of %s: %w", cause, err)
	}
	return a, nil
}

// Announced writes the notices that follow from an announcement, and that it is done, in one transaction. It does nothing if that was
// done before.
func (s *Store) Announced(ctx context.Context, announcement int64, list []Notice) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		var id int64
		err := c.QueryRow(ctx, `UPDATE announcements SET done_at = $2 WHERE id = $1 AND done_at IS NULL RETURNING id`, announcement, c.Now).Scan(&id)
		switch err = db.Plain(err); {
		case errors.Is(err, db.ErrNotFound):
			return nil
		case err != nil:
			return err
		}
		return save(ctx, c, list)
	})
	if err != nil {
		return fmt.Errorf("write the notices of announcement %d: %w", announcement, err)
	}
	return nil
}

// SlackMessage is the message that shows a cluster in the channel in which it was asked for.
type SlackMessage struct {
	Subscriber string // id
	Workspace  string
	Channel    string
	Person     string // who asked for it there
	Timestamp  int64  // microseconds; 0: it is not posted yet
	Muted      bool   // it is not updated any more, e.g. because somebody deleted it
}

// MessageOf returns the message of a cluster in Slack. ErrNotFound: it was not asked for there.
func (s *Store) MessageOf(ctx context.Context, cluster string) (SlackMessage, error) {
	m, err := db.One[SlackMessage](ctx, s.db.Pool(), `
		SELECT id AS subscriber, workspace, channel, person, external_id AS timestamp, muted
		FROM subscribers WHERE cluster_id = $1 AND kind = 'slack_message'`, cluster)
	if err != nil {
		return SlackMessage{}, fmt.Errorf("look for the message of %s in Slack: %w", cluster, err)
	}
	return m, nil
}

// HolderOf returns the principal whose cluster it is: whoever accepted it last, else whoever requested it.
func (s *Store) HolderOf(ctx context.Context, cluster string) (principal string, err error) {
	err = s.db.Pool().QueryRow(ctx, `SELECT `+clusters.HeldBy+` FROM clusters c WHERE c.id = $1`, cluster).Scan(&principal)
	if err != nil {
		return "", fmt.Errorf("look whose cluster %s is: %w", cluster, db.Plain(err))
	}
	return principal, nil
}

// PersonOf returns the person in a workspace whom a principal's identities name: the account that was seen last, if several do. An empty
// workspace means any. Both results are empty if there is nobody.
func (s *Store) PersonOf(ctx context.Context, workspace, principal string) (in, person string, err error) {
	found, err := db.All[struct{ Workspace, Person string }](ctx, s.db.Pool(), `
		SELECT split_part(substr(i.id, 7), '/', 1) AS workspace, split_part(substr(i.id, 7), '/', 2) AS person
		FROM unnest(identities_of($1)) AS i (id) LEFT JOIN accounts a ON a.account = i.id
		WHERE i.id LIKE 'slack:_%/_%' AND ($2 = '' OR starts_with(i.id, 'slack:' || $2 || '/'))
		ORDER BY a.seen_at DESC NULLS LAST, i.id LIMIT 1`, principal, workspace)
	if err != nil {
		return "", "", fmt.Errorf("look for %s in Slack: %w", principal, err)
	}
	if len(found) == 0 {
		return "", "", nil
	}
	return found[0].Workspace, found[0].Person, nil
}
