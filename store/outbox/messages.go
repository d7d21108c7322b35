package outbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

const subscriberColumns = `
	id, cluster_id AS cluster, kind, installation, repo, number, head, external_id, wanted_version, shown_version, shown_body, shown_at, muted, left_behind AS "left",
	workspace, channel, person, told_to`

// Subscribers returns a cluster's subscribers.
func (s *Store) Subscribers(ctx context.Context, cluster string) ([]Subscriber, error) {
	subs, err := db.All[Subscriber](ctx, s.db.Pool(), `SELECT `+subscriberColumns+` FROM subscribers WHERE cluster_id = $1 ORDER BY id`, cluster)
	if err != nil {
		return nil, fmt.Errorf("list subscribers of %s: %w", cluster, err)
	}
	return subs, nil
}

// SubscriberToShow returns a subscriber and the current state of its cluster. The subscriber is not older than the row: whoever shows the row says
// that its version is shown.
func (s *Store) SubscriberToShow(ctx context.Context, subID string) (Subscriber, clusters.Row, error) {
	sub, err := s.subscriber(ctx, subID)
	if err != nil {
		return Subscriber{}, clusters.Row{}, err
	}
	row, err := clusters.Read(ctx, s.db, sub.Cluster)
	if err == nil && row.Cluster.Version > sub.WantedVersion {
		sub, err = s.subscriber(ctx, subID)
	}
	if err != nil {
		return Subscriber{}, clusters.Row{}, err
	}
	return sub, row, nil
}

func (s *Store) subscriber(ctx context.Context, id string) (Subscriber, error) {
	sub, err := db.One[Subscriber](ctx, s.db.Pool(), `SELECT `+subscriberColumns+` FROM subscribers WHERE id = $1`, id)
	if err != nil {
		return Subscriber{}, fmt.Errorf("read subscriber %s: %w", id, err)
	}
	return sub, nil
}

// awaitedFor is how long somebody who pressed a button waits for its effect.
const awaitedFor = time.Minute

// IsAwaited reports that somebody just changed a subscriber's cluster in Slack, and the subscriber does not show it.
func (s *Store) IsAwaited(ctx context.Context, sub Subscriber) (awaited bool, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM audit_events WHERE target_cluster_id = $1 AND source = 'slack'
			AND created_at > greatest($2::timestamptz, coalesce($3::timestamptz, clock_timestamp()) - $4::interval))`,
		sub.Cluster, sub.ShownAt, s.db.Fixed(), awaitedFor).Scan(&awaited)
	if err != nil {
		return false, fmt.Errorf("look whether somebody waits for %s: %w", sub.ID, err)
	}
	return awaited, nil
}

// SubscribersBehind returns the subscribers that show an older version of a cluster, and its current state. ErrNotFound: there is no such
// cluster.
func (s *Store) SubscribersBehind(ctx context.Context, cluster string) ([]Subscriber, clusters.Row, error) {
	row, err := clusters.Read(ctx, s.db, cluster)
	if err != nil {
		return nil, clusters.Row{}, err
	}
	subs, err := db.All[Subscriber](ctx, s.db.Pool(), `SELECT `+subscriberColumns+` FROM subscribers WHERE cluster_id = $1 AND shown_version < $2 AND NOT muted ORDER BY id`,
		cluster, row.Cluster.Version)
	if err != nil {
		return nil, clusters.Row{}, fmt.Errorf("list the subscribers of %s that are behind: %w", cluster, err)
	}
	return subs, row, nil
}

// SkipVersion records that some of the subscribers behind show a version already, because it does not change their text, and enqueues an
// update of each of the others. One that is being posted may show another text in a moment, so it is updated, too.
func (s *Store) SkipVersion(ctx context.Context, behind, unchanged []Subscriber, version int64) error {
	skipped := map[string]bool{}
	if len(unchanged) > 0 {
		var ids, hashes []string
		for _, sub := range unchanged {
			ids, hashes = append(ids, sub.ID), append(hashes, sub.ShownBody)
		}
		rows, err := db.All[struct{ ID string }](ctx, s.db.Pool(), `
			UPDATE subscribers s SET shown_version = $3 FROM unnest($1::text[], $2::text[]) AS u (id, hash)
			WHERE s.id = u.id AND s.shown_body = u.hash AND s.shown_version < $3 AND s.posting_at IS NULL RETURNING s.id`, ids, hashes, version)
		if err != nil {
			return fmt.Errorf("skip a version: %w", err)
		}
		for _, row := range rows {
			skipped[row.ID] = true
		}
	}
	if len(skipped) == len(behind) {
		return nil
	}
	err := s.db.Write(ctx, func(c *db.Tx) error {
		for _, sub := range behind {
			if !skipped[sub.ID] {
				c.Enqueue(queue.PublishArgs{Subscriber: sub.ID, Version: version})
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("update the subscribers that are behind: %w", err)
	}
	return nil
}

// Posting records that a subscriber is about to be posted. A zero since: no other post was under way, so the database says what
// stands there. Otherwise an earlier post, begun then, may have arrived without being recorded. ErrNotFound: it shows a
// later version than it did when it was read.
func (s *Store) Posting(ctx context.Context, sub Subscriber) (since time.Time, err error) {
	var before *time.Time
	err = s.db.Pool().QueryRow(ctx, `
		UPDATE subscribers s SET posting_at = coalesce(b.posting_at, $2::timestamptz, clock_timestamp())
		FROM subscribers b WHERE s.id = $1 AND s.shown_version = $3 AND b.id = s.id RETURNING b.posting_at`, sub.ID, s.db.Fixed(), sub.ShownVersion).Scan(&before)
	if err != nil {
		return time.Time{}, fmt.Errorf("record that %s is being posted: %w", sub.ID, db.Plain(err))
	}
	if before == nil {
		return time.Time{}, nil
	}
	return *before, nil
}

// shown takes the arguments of Shown and the fixed clock.
const shown = `
	UPDATE subscribers SET external_id = $2, shown_version = $3, shown_body = $4, posting_at = NULL,
		shown_at = CASE WHEN shown_body = $4 THEN shown_at ELSE coalesce($5::timestamptz, clock_timestamp()) END
	WHERE id = $1 AND shown_version <= $3`

// Shown records what a subscriber shows and under which id. An older version never replaces a newer one.
func (s *Store) Shown(ctx context.Context, subID string, externalID, version int64, bodyHash string) error {
	if _, err := s.db.Pool().Exec(ctx, shown, subID, externalID, version, bodyHash, s.db.Fixed()); err != nil {
		return fmt.Errorf("remember what %s shows: %w", subID, err)
	}
	return nil
}

// ShownUnlocked is Shown for a comment that could not be written before, because the conversation was locked. The cluster is shown again:
// its check says so no more.
func (s *Store) ShownUnlocked(ctx context.Context, sub Subscriber, externalID, version int64, bodyHash string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		if _, err := clusters.Lock(ctx, c, sub.Cluster); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, shown, sub.ID, externalID, version, bodyHash, s.db.Fixed()); err != nil {
			return err
		}
		return clusters.Refresh(ctx, c, sub.Cluster)
	})
	if err != nil {
		return fmt.Errorf("remember what %s shows: %w", sub.ID, err)
	}
	return nil
}

// ShownLocked is what a comment shows that cannot be written, because the conversation is locked.
const ShownLocked = "locked"

// CommentIsLocked records that a cluster's comment cannot be written, because the conversation is locked. If that is news, the cluster is shown
// again: its check may have been shown before, and says so instead of the comment.
func (s *Store) CommentIsLocked(ctx context.Context, sub Subscriber, version int64) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		if _, err := clusters.Lock(ctx, c, sub.Cluster); err != nil {
			return err
		}
		tag, err := c.Exec(ctx, `
			UPDATE subscribers SET shown_version = $2, shown_body = $3, posting_at = NULL,
				shown_at = CASE WHEN shown_body = $3 THEN shown_at ELSE $4 END
			WHERE id = $1 AND shown_version <= $2`, sub.ID, version, ShownLocked, c.Now)
		if err != nil || tag.RowsAffected() == 0 || sub.ShownBody == ShownLocked {
			return err
		}
		return clusters.Refresh(ctx, c, sub.Cluster)
	})
	if err != nil {
		return fmt.Errorf("remember that %s cannot be written: %w", sub.ID, err)
	}
	return nil
}

// CommentLocked reports whether a cluster's comment could not be written when it was last due, because the conversation is locked.
func (s *Store) CommentLocked(ctx context.Context, cluster string) (locked bool, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM subscribers WHERE cluster_id = $1 AND kind = 'github_comment' AND shown_body = $2)`, cluster, ShownLocked).Scan(&locked)
	if err != nil {
		return false, fmt.Errorf("look whether the comment of %s can be written: %w", cluster, err)
	}
	return locked, nil
}

// SaveReply asks for an answer to be posted. A cause is answered once: the first answer stands.
func (s *Store) SaveReply(ctx context.Context, r clusters.Reply) error {
	err := s.db.Write(ctx, func(c *db.Tx) error { return clusters.SaveReply(ctx, c, r) })
	if err != nil {
		return fmt.Errorf("save the reply to %s: %w", r.Cause, err)
	}
	return nil
}

const replyColumns = `
	id, cause, thread, coalesce(installation, 0) AS installation, coalesce(repo, '') AS repo, coalesce(number, 0) AS number,
	coalesce(workspace, '') AS workspace, coalesce(channel, '') AS channel, coalesce(person, '') AS person, body, blocks, external_id,
	outdated_at IS NOT NULL OR link_removed AS final`

// Reply returns one answer. ErrNotFound: there is none of that id.
func (s *Store) Reply(ctx context.Context, id string) (clusters.Reply, error) {
	r, err := db.One[clusters.Reply](ctx, s.db.Pool(), `SELECT `+replyColumns+` FROM replies WHERE id = $1`, id)
	if err != nil {
		return clusters.Reply{}, fmt.Errorf("read reply %s: %w", id, err)
	}
	return r, nil
}

// Thread returns the answers of a thread, in order.
func (s *Store) Thread(ctx context.Context, thread string) ([]clusters.Reply, error) {
	list, err := db.All[clusters.Reply](ctx, s.db.Pool(), `SELECT `+replyColumns+` FROM replies WHERE thread = $1 AND thread <> '' ORDER BY created_at, id`, thread)
	if err != nil {
		return nil, fmt.Errorf("read the answers to %s: %w", thread, err)
	}
	return list, nil
}

// threadHeldFor is how long the answers of a thread are held back at most: a process that died releases none.
const threadHeldFor = time.Minute

func threadMark(thread string) string { return "answers to " + thread }

// HoldThread holds the answers of a thread back until ReleaseThread, because more of them come.
func (s *Store) HoldThread(ctx context.Context, thread string) error {
	_, err := s.db.Pool().Exec(ctx, `
		WITH clock AS (SELECT coalesce($2::timestamptz, clock_timestamp()) AS now)
		INSERT INTO marks (name, at, set_at) SELECT $1, now + $3::interval, now FROM clock ON CONFLICT (name) DO UPDATE SET at = excluded.at, set_at = excluded.set_at`,
		threadMark(thread), s.db.Fixed(), threadHeldFor)
	if err != nil {
		return fmt.Errorf("hold the answers to %s back: %w", thread, err)
	}
	return nil
}

// ReleaseThread has the answers of a thread posted.
func (s *Store) ReleaseThread(ctx context.Context, thread string) error {
	if _, err := s.db.Pool().Exec(ctx, `DELETE FROM marks WHERE name = $1`, threadMark(thread)); err != nil {
		return fmt.Errorf("release the answers to %s: %w", thread, err)
	}
	return nil
}

// IsThreadHeld reports whether more answers of a thread come.
func (s *Store) IsThreadHeld(ctx context.Context, thread string) (held bool, err error) {
	err = s.db.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT FROM marks WHERE name = $1 AND at > coalesce($2::timestamptz, clock_timestamp()))`,
		threadMark(thread), s.db.Fixed()).Scan(&held)
	if err != nil {
		return false, fmt.Errorf("look whether more answers to %s come: %w", thread, err)
	}
	return held, nil
}

// linkHandle matches the secret part of a link.
const linkHandle = "/links/[A-Za-z0-9_-]{40,}"

// Replied is RepliedAll for one answer.
func (s *Store) Replied(ctx context.Context, id string, externalID int64) error {
	return s.RepliedAll(ctx, []string{id}, externalID)
}

// RepliedAll records that answers to one comment were posted together: all or, if the process dies, none, so that no link is missing when they
// are posted once more. It removes the handle of a link from the stored text, which is no longer needed. The answers to earlier comments on the
// same pull request are outdated now, so it asks for each of them to be minimized, once.
func (s *Store) RepliedAll(ctx context.Context, ids []string, externalID int64) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		_, err := c.Exec(ctx, `
			UPDATE replies r SET external_id = $2, body = n.body, blocks = n.blocks::jsonb, link_removed = r.link_removed OR r.body <> n.body OR r.blocks::text IS DISTINCT FROM n.blocks
			FROM (SELECT id, regexp_replace(body, $3, $4, 'g') AS body, regexp_replace(blocks::text, $3, $4, 'g') AS blocks FROM replies WHERE id = ANY ($1)) AS n
			WHERE r.id = n.id`, ids, externalID, linkHandle, "/links/…")
		if err != nil || externalID <= 0 || len(ids) == 0 {
			return err
		}
		return minimizeOlder(ctx, c, ids[0])
	})
	if err != nil {
		return fmt.Errorf("remember replies %s: %w", strings.Join(ids, ", "), err)
	}
	return nil
}

// outdated is why GitHub is asked to minimize an answer, in its words.
const outdated = "OUTDATED"

func minimizeOlder(ctx context.Context, c *db.Tx, id string) error {
	type answer struct {
		Installation, Target int64
		Repo                 string
		Number               int
	}
	older, err := db.All[answer](ctx, c, `
		UPDATE replies o SET outdated_at = $2 FROM replies n
		WHERE n.id = $1 AND o.repo = n.repo AND o.number = n.number AND o.external_id > 0 AND o.outdated_at IS NULL AND (o.thread = '' OR o.thread <> n.thread)
			AND o.external_id < (SELECT max(external_id) FROM replies WHERE repo = n.repo AND number = n.number AND external_id > 0 AND outdated_at IS NULL)
		RETURNING o.installation, o.repo, o.number, o.external_id AS target`, id, c.Now)
	if err != nil {
		return fmt.Errorf("look for older answers: %w", err)
	}
	var effects []clusters.Effect
	for _, o := range older {
		effects = append(effects, clusters.Effect{
			Cause: fmt.Sprintf("minimize:%d", o.Target), Kind: EffectMinimize, Installation: o.Installation, Repo: o.Repo, Number: o.Number, Target: o.Target, Content: outdated,
		})
	}
	return clusters.SaveEffects(ctx, c, effects)
}

// GiveUpReply is GiveUpReplies for one answer.
func (s *Store) GiveUpReply(ctx context.Context, id string) error { return s.Replied(ctx, id, givenUp) }

// GiveUpReplies records that answers can never be posted, so that they are not tried again.
func (s *Store) GiveUpReplies(ctx context.Context, ids []string) error {
	return s.RepliedAll(ctx, ids, givenUp)
}

// givenUp is the id of an answer that could not be posted.
const givenUp = -1

// Answered reports whether a cause was answered: then everything it asked for was done, and must not be done again.
func (s *Store) Answered(ctx context.Context, cause string) (done bool, err error) {
	if err := s.db.Pool().QueryRow(ctx, clusters.Answered, cause).Scan(&done); err != nil {
		return false, fmt.Errorf("look for the answer to %s: %w", cause, err)
	}
	return done, nil
}
