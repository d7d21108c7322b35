package outbox

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// NotPosted records that the post of a subscriber was refused: nothing arrived that an earlier post did not leave there.
func (s *Store) NotPosted(ctx context.Context, subID string) error {
	if _, err := s.db.Pool().Exec(ctx, `UPDATE subscribers SET posting_at = NULL WHERE id = $1`, subID); err != nil {
		return fmt.Errorf("record that %s was not posted: %w", subID, err)
	}
	return nil
}

// ThreadShown records that a thread has the cluster's events up to a time, in microseconds, and the cluster's version. externalID is the
// newest message in it. An older time never replaces a newer one.
func (s *Store) ThreadShown(ctx context.Context, subID string, externalID, to, version int64) error {
	_, err := s.db.Pool().Exec(ctx, `
		UPDATE subscribers SET external_id = CASE WHEN told_to < @to THEN @external ELSE external_id END, told_to = greatest(told_to, @to),
			shown_at = CASE WHEN told_to < @to THEN `+db.PaceClock+` ELSE shown_at END,
			shown_version = greatest(shown_version, @version), posting_at = NULL WHERE id = @id`,
		pgx.NamedArgs{"id": subID, "external": externalID, "to": to, "version": version, "fixed": s.db.Fixed()})
	if err != nil {
		return fmt.Errorf("record what the thread %s shows: %w", subID, err)
	}
	return nil
}

// SlackMessage returns the message that shows a cluster in Slack. ErrNotFound: there is none.
func (s *Store) SlackMessage(ctx context.Context, cluster string) (Subscriber, error) {
	sub, err := db.One[Subscriber](ctx, s.db.Pool(), `SELECT `+subscriberColumns+` FROM subscribers WHERE cluster_id = $1 AND kind = $2`, cluster, clusters.KindSlackMessage)
	if err != nil {
		return Subscriber{}, fmt.Errorf("read the message of %s in Slack: %w", cluster, err)
	}
	return sub, nil
}

// MuteSlack stops updates of a cluster's message in Slack and of its thread for good, because somebody deleted the message.
func (s *Store) MuteSlack(ctx context.Context, cluster string) error {
	_, err := s.db.Pool().Exec(ctx, `UPDATE subscribers SET muted = true, posting_at = NULL WHERE cluster_id = $1 AND kind = ANY ($2)`,
		cluster, []string{clusters.KindSlackMessage, clusters.KindSlackThread})
	if err != nil {
		return fmt.Errorf("mute %s in Slack: %w", cluster, err)
	}
	return nil
}

// WakeThread has the thread of a cluster's message updated now, because the message was posted.
func (s *Store) WakeThread(ctx context.Context, cluster string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		return c.RunNow(ctx, queue.PublishArgs{}.Kind(), `args ->> 'subscriber' IN (SELECT id FROM subscribers WHERE cluster_id = @cluster AND kind = @thread)`,
			river.NamedArgs{"cluster": cluster, "thread": clusters.KindSlackThread})
	})
	if err != nil {
		return fmt.Errorf("wake the thread of %s: %w", cluster, err)
	}
	return nil
}
