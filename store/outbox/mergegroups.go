package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// MergeGroup is a commit of a merge queue that checks were asked for.
type MergeGroup struct {
	Installation int64
	Repo, Head   string // owner/name; the queue's commit
	Number       int    // the pull request whose turn it is
	PullHead     string // its head
	Mode         string // reuse or cluster, as in the repository's file
	AskedAt      time.Time
	EndedAt      *time.Time // nil: it is in the queue
	EndedWhy     string     // merged, invalidated, dequeued or gone
}

// Key is the idempotency key with which the cluster of a profile is requested for a group; without a profile, what the keys of its clusters
// begin with.
func (g MergeGroup) Key(profile string) string {
	return fmt.Sprintf("merge_group:%s:%s:%s", g.Repo, g.Head, profile)
}

const mergeGroupColumns = `installation, repo, head, number, pull_head, mode, asked_at, ended_at, ended_why`

// SaveMergeGroup records a group. It returns the group as it is recorded: one that ended stays ended, and keeps what it was.
func (s *Store) SaveMergeGroup(ctx context.Context, g MergeGroup) (MergeGroup, error) {
	var kept MergeGroup
	err := s.db.Write(ctx, func(c *db.Tx) (err error) {
		kept, err = db.One[MergeGroup](ctx, c, `
			INSERT INTO merge_groups AS g (installation, repo, head, number, pull_head, mode, asked_at)
			VALUES (@installation, @repo, @head, @number, @pull, @mode, @now)
			ON CONFLICT (repo, head) DO UPDATE SET installation = @installation RETURNING `+mergeGroupColumns,
			pgx.NamedArgs{"installation": g.Installation, "repo": g.Repo, "head": g.Head, "number": g.Number, "pull": g.PullHead, "mode": g.Mode, "now": c.Now})
		return err
	})
	if err != nil {
		return MergeGroup{}, fmt.Errorf("save the merge group %s of %s: %w", g.Head, g.Repo, err)
	}
	return kept, nil
}

// EndMergeGroup records that a group left the queue, and returns the clusters of its own that are still wanted, also those whose check is not on
// the commit yet. A group of which only the end
// is known is recorded as ended, so that a late request for its checks makes nothing.
func (s *Store) EndMergeGroup(ctx context.Context, g MergeGroup, why string) (found []string, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		_, err := c.Exec(ctx, `
			INSERT INTO merge_groups AS g (installation, repo, head, number, pull_head, mode, asked_at, ended_at, ended_why)
			VALUES (@installation, @repo, @head, @number, '', 'reuse', @now, @now, @why)
			ON CONFLICT (repo, head) DO UPDATE SET ended_at = coalesce(g.ended_at, @now), ended_why = CASE WHEN g.ended_at IS NULL THEN @why ELSE g.ended_why END`,
			pgx.NamedArgs{"installation": g.Installation, "repo": g.Repo, "head": g.Head, "number": g.Number, "now": c.Now, "why": why})
		if err != nil {
			return err
		}
		return c.QueryRow(ctx, `
			SELECT coalesce(array_agg(c.id ORDER BY c.id), '{}') FROM clusters c WHERE c.pr_number IS NULL AND c.desired = 'present' AND (
				EXISTS (SELECT FROM subscribers s WHERE s.cluster_id = c.id AND s.kind = $3 AND s.repo = $1 AND s.head = $2 AND NOT s.left_behind)
				OR EXISTS (SELECT FROM request_keys k WHERE k.cluster_id = c.id AND starts_with(k.key, $4)))`,
			g.Repo, g.Head, clusters.KindCheck, g.Key("")).Scan(&found)
	})
	if err != nil {
		return nil, fmt.Errorf("end the merge group %s of %s: %w", g.Head, g.Repo, err)
	}
	return found, nil
}

// MergeGroupAt returns the group of a commit. ErrNotFound: it is none.
func (s *Store) MergeGroupAt(ctx context.Context, repo, head string) (MergeGroup, error) {
	g, err := db.One[MergeGroup](ctx, s.db.Pool(), `SELECT `+mergeGroupColumns+` FROM merge_groups WHERE repo = $1 AND head = $2`, repo, head)
	if err != nil {
		return MergeGroup{}, fmt.Errorf("read the merge group %s of %s: %w", head, repo, err)
	}
	return g, nil
}

// MergeGroupsOf returns the groups of a repository, those that left the queue included.
func (s *Store) MergeGroupsOf(ctx context.Context, repo string) ([]MergeGroup, error) {
	list, err := db.All[MergeGroup](ctx, s.db.Pool(), `SELECT `+mergeGroupColumns+` FROM merge_groups WHERE repo = $1 ORDER BY asked_at, head`, repo)
	if err != nil {
		return nil, fmt.Errorf("list the merge groups of %s: %w", repo, err)
	}
	return list, nil
}

// QueueRepository is a repository that may have a merge queue.
type QueueRepository struct {
	Installation int64
	Repo         string // owner/name
}

// QueueRepositories returns the repositories in whose merge queues there may be a commit that needs a gate: those with a gate that was asked for
// since a time.
func (s *Store) QueueRepositories(ctx context.Context, since time.Time) ([]QueueRepository, error) {
	list, err := db.All[QueueRepository](ctx, s.db.Pool(), `
		SELECT DISTINCT ON (repo) installation, repo FROM gates WHERE asked_at >= $1 ORDER BY repo, asked_at DESC`, since)
	if err != nil {
		return nil, fmt.Errorf("list the repositories with gates: %w", err)
	}
	return list, nil
}

// GateProfiles returns the profiles that have a gate on a commit.
func (s *Store) GateProfiles(ctx context.Context, repo, head string) (profiles []string, err error) {
	err = s.db.Pool().QueryRow(ctx, `SELECT coalesce(array_agg(profile ORDER BY profile), '{}') FROM gates WHERE repo = $1 AND head = $2`, repo, head).Scan(&profiles)
	if err != nil {
		return nil, fmt.Errorf("list the gates on %s of %s: %w", head, repo, err)
	}
	return profiles, nil
}

// ShowOnCommit adds the check of a cluster that belongs to no pull request on a merge queue's commit. It does nothing if that is there.
func (s *Store) ShowOnCommit(ctx context.Context, cluster string, g MergeGroup) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		if _, err := clusters.Lock(ctx, c, cluster); err != nil {
			return err
		}
		tag, err := c.Exec(ctx, `
			INSERT INTO subscribers (id, cluster_id, kind, installation, repo, number, head, wanted_version, nudge_at)
			SELECT @id, c.id, @kind, @installation, @repo, @number, @head, c.row_version, @nudge FROM clusters c WHERE c.id = @cluster
			ON CONFLICT (cluster_id, head) WHERE kind = 'github_check' DO NOTHING`,
			pgx.NamedArgs{"id": db.NewID("sub"), "kind": clusters.KindCheck, "installation": g.Installation, "repo": g.Repo, "number": g.Number, "head": g.Head,
				"cluster": cluster, "nudge": c.Now.Add(clusters.NudgeSoon)})
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return clusters.Refresh(ctx, c, cluster)
	})
	if err != nil {
		return fmt.Errorf("show %s on %s: %w", cluster, g.Head, err)
	}
	return nil
}

// askQueueGates asks for the gates on the commits of merge queues that have the result of a gate.
func askQueueGates(ctx context.Context, c *db.Tx, g Gate, cause string) error {
	var heads []string
	err := c.QueryRow(ctx, `
		SELECT coalesce(array_agg(head), '{}') FROM merge_groups WHERE repo = $1 AND pull_head = $2 AND mode = 'reuse' AND ended_at IS NULL`, g.Repo, g.Head).Scan(&heads)
	if err != nil || len(heads) == 0 {
		return err
	}
	return clusters.AskGatesOn(ctx, c, g.Repo, heads, cause)
}
