package notices

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

const noticeColumns = `
	n.id, n.cause, n.kind, coalesce(n.cluster_id, '') AS cluster, n.workspace, n.channel, n.person, coalesce(n.thread, '') AS thread, n.mention,
	n.facts, n.wanted_version AS wanted, n.shown_version AS shown, n.posted_in, n.external_id, n.posting_at, n.created_at`

// Save asks for notices to be posted. A place gets one notice for a cause: the first stands.
func (s *Store) Save(ctx context.Context, list []Notice) error {
	if err := s.db.Write(ctx, func(c *db.Tx) error { return save(ctx, c, list) }); err != nil {
		return fmt.Errorf("save %d notices: %w", len(list), err)
	}
	return nil
}

func save(ctx context.Context, c *db.Tx, list []Notice) error {
	for _, n := range list {
		if len(n.Facts) == 0 {
			n.Facts = json.RawMessage(`{}`)
		}
		id := db.NewID("not")
		tag, err := c.Exec(ctx, `
			INSERT INTO notices (id, cause, kind, cluster_id, workspace, channel, person, thread, mention, facts, created_at, nudge_at)
			VALUES (@id, @cause, @kind, nullif(@cluster, ''), @workspace, @channel, @person, nullif(@thread, ''), @mention, @facts, @now, @nudge)
			ON CONFLICT (cause, workspace, channel, person) DO NOTHING`,
			pgx.NamedArgs{
				"id": id, "cause": n.Cause, "kind": n.Kind, "cluster": n.Cluster, "workspace": n.Workspace, "channel": n.Channel,
				"person": n.Person, "thread": n.Thread, "mention": n.Mention, "facts": n.Facts, "now": c.Now, "nudge": c.Now.Add(clusters.NudgeAgain),
			})
		if err != nil {
			return fmt.Errorf("write the notice of %s: %w", n.Cause, err)
		}
		if tag.RowsAffected() == 1 {
			c.Enqueue(queue.NoticeArgs{Notice: id, Version: 1})
		}
	}
	return nil
}

// Notice returns one notice. ErrNotFound: there is none of that id.
func (s *Store) Notice(ctx context.Context, id string) (Notice, error) {
	n, err := db.One[Notice](ctx, s.db.Pool(), `SELECT `+noticeColumns+` FROM notices n WHERE n.id = $1`, id)
	if err != nil {
		return Notice{}, fmt.Errorf("read notice %s: %w", id, err)
	}
	return n, nil
}

// Waiting returns the notices that are not up to date in the place of one of them (the same channel, thread or person), oldest first
// and at most limit. There is none if the notice itself needs nothing any more and no other waits there.
func (s *Store) Waiting(ctx context.Context, id string, limit int) ([]Notice, error) {
	list, err := db.All[Notice](ctx, s.db.Pool(), `
		SELECT `+noticeColumns+` FROM notices o JOIN notices n
			ON (n.workspace, n.channel, n.person, coalesce(n.thread, '')) = (o.workspace, o.channel, o.person, coalesce(o.thread, ''))
		WHERE o.id = $1 AND n.shown_version < n.wanted_version AND n.given_up = ''
		ORDER BY n.created_at, n.id LIMIT $2`, id, limit)
	if err != nil {
		return nil, fmt.Errorf("list the notices that wait beside %s: %w", id, err)
	}
	return list, nil
}

// Together returns the notices that one message shows: a digest, or the one alone. Oldest first.
func (s *Store) Together(ctx context.Context, n Notice) ([]Notice, error) {
	list, err := db.All[Notice](ctx, s.db.Pool(), `
		SELECT `+noticeColumns+` FROM notices n
		WHERE n.workspace = $1 AND n.posted_in = $2 AND n.external_id = $3 AND n.kind = $4 AND n.given_up = '' ORDER BY n.created_at, n.id`,
		n.Workspace, n.PostedIn, n.ExternalID, n.Kind)
	if err != nil {
		return nil, fmt.Errorf("list what is shown with notice %s: %w", n.ID, err)
	}
	return list, nil
}

// Posting records that notices are about to be posted, in one message. Until Posted, what stands in Slack is uncertain.
func (s *Store) Posting(ctx context.Context, ids []string) error {
	_, err := s.db.Pool().Exec(ctx, `
		WITH t AS MATERIALIZED (SELECT coalesce($2::timestamptz, clock_timestamp()) AS now) -- one for all: by it they are known as one message
		UPDATE notices SET posting_at = t.now FROM t WHERE id = ANY ($1)`, ids, s.db.Fixed())
	if err != nil {
		return fmt.Errorf("record that notices are being posted: %w", err)
	}
	return nil
}

// NotPosted records that notices were certainly not posted: Slack refused.
func (s *Store) NotPosted(ctx context.Context, ids []string) error {
	if _, err := s.db.Pool().Exec(ctx, `UPDATE notices SET posting_at = NULL WHERE id = ANY ($1)`, ids); err != nil {
		return fmt.Errorf("record that notices were not posted: %w", err)
	}
	return nil
}

// Posted records where notices stand, and that each shows the version it was read with.
func (s *Store) Posted(ctx context.Context, list []Notice, channel string, timestamp int64) error {
	ids, versions := make([]string, len(list)), make([]int, len(list))
	for i, n := range list {
		ids[i], versions[i] = n.ID, n.Wanted
	}
	_, err := s.db.Pool().Exec(ctx, `
		UPDATE notices n SET posting_at = NULL, posted_in = $3, external_id = $4, shown_version = greatest(n.shown_version, t.version)
		FROM unnest($1::text[], $2::int[]) AS t (id, version) WHERE n.id = t.id`, ids, versions, channel, timestamp)
	if err != nil {
		return fmt.Errorf("record where notices stand: %w", err)
	}
	return nil
}

// GiveUp records that notices are not posted or updated any more, and why.
func (s *Store) GiveUp(ctx context.Context, ids []string, why string) error {
	if _, err := s.db.Pool().Exec(ctx, `UPDATE notices SET given_up = $2, posting_at = NULL WHERE id = ANY ($1)`, ids, why); err != nil {
		return fmt.Errorf("give up notices: %w", err)
	}
	return nil
}

// Pressed adds to a notice's facts what a button in it did and who pressed it, and asks for its update. A fact that it has is replaced.
// Nothing happens to a notice that does not exist.
func (s *Store) Pressed(ctx context.Context, id string, facts json.RawMessage) error {
	err := s.db.Write(ctx, func(c *db.Tx) error { return clusters.ShowPressed(ctx, c, clusters.Pressed{Notice: id, Facts: facts}) })
	if err != nil {
		return fmt.Errorf("update notice %s: %w", id, err)
	}
	return nil
}

// Outdated has a notice updated whose button could not do what it says any more, unless the notice shows what became of it.
func (s *Store) Outdated(ctx context.Context, id string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		return clusters.RefreshNotices(ctx, c, `n.id = @id AND n.facts ->> 'done' IS NULL`, "", pgx.NamedArgs{"id": id})
	})
	if err != nil {
		return fmt.Errorf("update notice %s: %w", id, err)
	}
	return nil
}
