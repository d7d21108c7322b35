package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// The kinds of place that show a cluster.
const (
	KindComment = "github_comment"
	KindCheck   = "github_check"
)

const subscriberColumns = `
	id, cluster_id AS cluster, kind, installation, repo, number, head, external_id, shown_version, shown_body`

// Subscribers lists the places that show a cluster.
func (s *Store) Subscribers(ctx context.Context, cluster string) ([]Subscriber, error) {
	subs, err := all[Subscriber](ctx, s.pool, `SELECT `+subscriberColumns+` FROM subscribers WHERE cluster_id = $1 ORDER BY id`, cluster)
	if err != nil {
		return nil, fmt.Errorf("list subscribers of %s: %w", cluster, err)
	}
	return subs, nil
}

// SubscriberToShow returns a place and the cluster it shows, as it stands now.
func (s *Store) SubscriberToShow(ctx context.Context, subID string) (Subscriber, Row, error) {
	sub, err := one[Subscriber](ctx, s.pool, `SELECT `+subscriberColumns+` FROM subscribers WHERE id = $1`, subID)
	if err != nil {
		return Subscriber{}, Row{}, fmt.Errorf("read subscriber %s: %w", subID, err)
	}
	row, err := s.Cluster(ctx, sub.Cluster)
	if err != nil {
		return Subscriber{}, Row{}, err
	}
	return sub, row, nil
}

// Shown remembers what a place shows and under which id. An older version never replaces a newer one.
func (s *Store) Shown(ctx context.Context, subID string, externalID, version int64, bodyHash string) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE subscribers SET external_id = $2, shown_version = $3, shown_body = $4 WHERE id = $1 AND shown_version <= $3`,
		subID, externalID, version, bodyHash)
	if err != nil {
		return fmt.Errorf("remember what %s shows: %w", subID, err)
	}
	return nil
}

// SaveReply asks for an answer to be posted. A cause is answered once: the first words stand.
func (s *Store) SaveReply(ctx context.Context, r Reply) error {
	err := s.write(ctx, func(c *change) error { return c.reply(ctx, r) })
	if err != nil {
		return fmt.Errorf("save the reply to %s: %w", r.Cause, err)
	}
	return nil
}

func (c *change) reply(ctx context.Context, r Reply) error {
	id := NewID("rep")
	tag, err := c.Exec(ctx, `
		INSERT INTO replies (id, cause, installation, repo, number, body, created_at, nudge_at)
		VALUES (@id, @cause, @installation, @repo, @number, @body, @now, @nudge) ON CONFLICT (cause) DO NOTHING`,
		pgx.NamedArgs{
			"id": id, "cause": r.Cause, "installation": r.Installation, "repo": r.Repo, "number": r.Number, "body": r.Body,
			"now": c.now, "nudge": c.now.Add(nudgeAgain),
		})
	if err != nil {
		return fmt.Errorf("save the reply: %w", err)
	}
	if tag.RowsAffected() == 1 {
		c.enqueue(ReplyArgs{Reply: id})
	}
	return nil
}

// Reply returns one answer.
func (s *Store) Reply(ctx context.Context, id string) (Reply, error) {
	r, err := one[Reply](ctx, s.pool, `
		SELECT id, cause, installation, repo, number, body, external_id FROM replies WHERE id = $1`, id)
	if err != nil {
		return Reply{}, fmt.Errorf("read reply %s: %w", id, err)
	}
	return r, nil
}

// Replied remembers that an answer was posted.
func (s *Store) Replied(ctx context.Context, id string, externalID int64) error {
	if _, err := s.pool.Exec(ctx, `UPDATE replies SET external_id = $2 WHERE id = $1`, id, externalID); err != nil {
		return fmt.Errorf("remember reply %s: %w", id, err)
	}
	return nil
}
