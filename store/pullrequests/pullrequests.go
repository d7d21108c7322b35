package pullrequests

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// SeePullRequest stores the newest state seen of a pull request. fresh is false if a newer one is known. GitHub's clock has
// whole seconds: of two states of one second the closed one wins, unless this one was reopened. What the source did not know
// stays as it was. If the repository was known under another name, its rows follow to this one, and any other repository that
// had the name loses it.
func (s *Store) SeePullRequest(ctx context.Context, pr PullRequest, reopened bool) (fresh bool, err error) {
	if pr.Labels == nil {
		pr.Labels = []string{}
	}
	others, err := s.findUnderOtherName(ctx, pr)
	for _, o := range others {
		if err != nil {
			break
		}
		if pr.UpdatedAt.Before(o.UpdatedAt) || o.RepoID != pr.RepoID && !pr.UpdatedAt.After(o.UpdatedAt) { // a late report: the name has passed to another repository since
			return false, nil
		}
		if o.RepoID != pr.RepoID {
			err = s.giveWay(ctx, pr)
			continue
		}
		d := clusters.Origin{Actor: db.Lifecycle, Why: "its pull request " + strconv.Itoa(pr.Number) + " was seen under the new name"}
		_, err = s.RenameRepository(ctx, o.Repo, pr.Repo, pr.RepoID, pr.Installation, d)
	}
	if err == nil {
		fresh, err = s.see(ctx, pr, reopened)
	}
	if err != nil {
		return false, fmt.Errorf("remember %s#%d: %w", pr.Repo, pr.Number, db.Plain(err))
	}
	return fresh, nil
}

// see stores a state. The gates of the commits that the pull request is at, or was at, depend on it.
func (s *Store) see(ctx context.Context, pr PullRequest, reopened bool) (fresh bool, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		was, err := db.All[struct{ Head string }](ctx, c, `SELECT head FROM pull_requests WHERE repo = $1 AND number = $2`, pr.Repo, pr.Number)
		if err != nil {
			return err
		}
		if fresh, err = saveState(ctx, c, pr, reopened); err != nil || !fresh {
			return err
		}
		heads := []string{pr.Head}
		for _, w := range was {
			heads = append(heads, w.Head)
		}
		return clusters.AskGatesOn(ctx, c, pr.Repo, heads, db.NewID("see")) // GitHub's times have whole seconds, so no part of the state tells two of them apart
	})
	return fresh, err
}

func saveState(ctx context.Context, c *db.Tx, pr PullRequest, reopened bool) (fresh bool, err error) {
	tag, err := c.Exec(ctx, `
		INSERT INTO pull_requests AS p (repo, number, installation, open, draft, merged, fork, labels, author, author_id, association, head, head_ref,
			base, repo_id, updated_at, seen_at, head_at)
		VALUES (@repo, @number, @installation, @open, @draft, @merged AND NOT @open, @fork, @labels, @author, @author_id, @association, @head, @head_ref,
			@base, @repo_id, @updated, @now, @updated)
		ON CONFLICT (repo, number) DO UPDATE SET
			installation = excluded.installation, open = excluded.open, fork = excluded.fork, labels = excluded.labels,
			author = excluded.author, author_id = coalesce(nullif(excluded.author_id, 0), p.author_id), head = excluded.head, base = excluded.base,
			draft = CASE WHEN excluded.head_ref = '' THEN p.draft ELSE excluded.draft END,
			merged = NOT excluded.open AND (excluded.merged OR p.merged),
			association = coalesce(nullif(excluded.association, ''), p.association),
			head_ref = coalesce(nullif(excluded.head_ref, ''), p.head_ref),
			repo_id = coalesce(nullif(excluded.repo_id, 0), p.repo_id),
			updated_at = excluded.updated_at, seen_at = excluded.seen_at,
			head_at = CASE WHEN p.head = excluded.head THEN coalesce(p.head_at, p.updated_at) ELSE excluded.updated_at END
		WHERE excluded.updated_at > p.updated_at
			OR (excluded.updated_at = p.updated_at AND (p.open OR NOT excluded.open OR @reopened))`,
		pgx.NamedArgs{
			"repo": pr.Repo, "number": pr.Number, "installation": pr.Installation, "open": pr.Open, "draft": pr.Draft, "merged": pr.Merged,
			"fork": pr.Fork, "labels": pr.Labels, "author": pr.Author, "author_id": pr.AuthorID, "association": pr.Association, "head": pr.Head, "head_ref": pr.HeadRef,
			"base": pr.Base, "repo_id": pr.RepoID, "updated": pr.UpdatedAt, "reopened": reopened, "now": c.Now,
		})
	if err != nil {
		return false, err
	}
	return tag.RowsAffected() == 1, nil
}

const pullColumns = `installation, repo, number, open, draft, merged, fork, labels, author, author_id, association, head, head_ref, base, repo_id,
	updated_at,
	coalesce(head_at, updated_at) AS head_at`

// PullRequest returns the newest state seen of a pull request. ErrNotFound: none was seen.
func (s *Store) PullRequest(ctx context.Context, repo string, number int) (PullRequest, error) {
	pr, err := db.One[PullRequest](ctx, s.db.Pool(), `SELECT `+pullColumns+` FROM pull_requests WHERE repo = $1 AND number = $2`, repo, number)
	if err != nil {
		return PullRequest{}, fmt.Errorf("read %s#%d: %w", repo, number, err)
	}
	return pr, nil
}

// AskAbout has a process that reaches GitHub ask about a pull request.
func (s *Store) AskAbout(ctx context.Context, repo string, number int) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		c.Enqueue(queue.PullArgs{Repo: repo, Number: number})
		return nil
	})
	if err != nil {
		return fmt.Errorf("ask about %s#%d: %w", repo, number, err)
	}
	return nil
}

// PullRequestElsewhere returns a pull request under its repository's current name, if that is another one. ErrNotFound: it is
// not.
func (s *Store) PullRequestElsewhere(ctx context.Context, pr PullRequest) (PullRequest, error) {
	known, err := db.One[PullRequest](ctx, s.db.Pool(), `
		SELECT `+pullColumns+` FROM pull_requests WHERE repo_id = $1 AND repo_id <> 0 AND number = $2 AND repo <> $3
		ORDER BY updated_at DESC LIMIT 1`, pr.RepoID, pr.Number, pr.Repo)
	if err != nil {
		return PullRequest{}, fmt.Errorf("look for %s#%d under another name: %w", pr.Repo, pr.Number, err)
	}
	return known, nil
}

// pullOfCluster is what is known of the pull request p of cluster c; if p was never seen, the cluster's own columns are used.
const pullOfCluster = `
	coalesce(p.installation, c.installation) AS installation, c.repo, c.pr_number AS number, coalesce(p.open, true) AS open,
	coalesce(p.draft, false) AS draft, coalesce(p.merged, false) AS merged, coalesce(p.fork, false) AS fork,
	coalesce(p.labels, '{}') AS labels, coalesce(p.author, '') AS author, coalesce(p.author_id, 0) AS author_id, coalesce(p.association, '') AS association,
	coalesce(p.head, c.pr_head) AS head, coalesce(p.head_ref, '') AS head_ref, coalesce(p.base, '') AS base,
	coalesce(p.repo_id, c.repo_id) AS repo_id, coalesce(p.updated_at, c.created_at) AS updated_at,
	coalesce(p.head_at, p.updated_at, c.created_at) AS head_at`

// hasWanted selects whether the pull request of look l has a wanted cluster.
const hasWanted = `EXISTS (SELECT 1 FROM clusters c WHERE c.repo = l.repo AND c.pr_number = l.number AND c.desired = 'present')`

// PullsToLook returns the pull requests with a wanted cluster that were not checked on GitHub since before, the longest ago
// first.
func (s *Store) PullsToLook(ctx context.Context, before time.Time, limit int) ([]PullRequest, error) {
	const due = `SELECT repo, number, looked_at FROM looks WHERE looked_at < $1 ORDER BY looked_at, repo, number LIMIT $2`
	for idle := int64(1); idle > 0; { // one that got a cluster meanwhile was looked at just now, and stays
		tag, err := s.db.Pool().Exec(ctx, `
			DELETE FROM looks WHERE looked_at < $1 AND (repo, number) IN (
				SELECT l.repo, l.number FROM (`+due+`) l WHERE NOT `+hasWanted+`)`, before, limit)
		if err != nil {
			return nil, fmt.Errorf("forget pull requests without a cluster: %w", err)
		}
		idle = tag.RowsAffected()
	}
	list, err := db.All[PullRequest](ctx, s.db.Pool(), `
		SELECT `+pullOfCluster+` FROM (`+due+`) l
			JOIN LATERAL (SELECT * FROM clusters c WHERE c.repo = l.repo AND c.pr_number = l.number AND c.desired = 'present' ORDER BY c.id DESC LIMIT 1) c ON true
			LEFT JOIN pull_requests p ON p.repo = l.repo AND p.number = l.number
		ORDER BY l.looked_at, l.repo, l.number`, before, limit)
	if err != nil {
		return nil, fmt.Errorf("list pull requests to look at: %w", err)
	}
	return list, nil
}

// PullsEnding returns, for each pull request in order, the end of a wanted cluster that ends because its pull request counts as
// closed; the zero time: there is none.
func (s *Store) PullsEnding(ctx context.Context, pulls []PullRequest) (ends []time.Time, err error) {
	repos, numbers := namesAndNumbers(pulls)
	found, err := db.All[struct{ At *time.Time }](ctx, s.db.Pool(), `
		SELECT max(c.end_pr_closed) AS at FROM unnest($1::text[], $2::int[]) WITH ORDINALITY AS n (repo, number, nr)
			LEFT JOIN clusters c ON c.repo = n.repo AND c.pr_number = n.number AND c.desired = 'present'
		GROUP BY n.nr ORDER BY n.nr`, repos, numbers)
	if err != nil {
		return nil, fmt.Errorf("look which of %d pull requests count as closed: %w", len(pulls), err)
	}
	for _, f := range found {
		ends = append(ends, db.Zero(f.At))
	}
	return ends, nil
}

func namesAndNumbers(pulls []PullRequest) (repos []string, numbers []int) {
	repos, numbers = make([]string, len(pulls)), make([]int, len(pulls))
	for i, pr := range pulls {
		repos[i], numbers[i] = pr.Repo, pr.Number
	}
	return repos, numbers
}

// Looked records that pull requests were just checked on GitHub.
func (s *Store) Looked(ctx context.Context, pulls ...PullRequest) error {
	repos, numbers := namesAndNumbers(pulls)
	_, err := s.db.Pool().Exec(ctx, `
		UPDATE looks l SET looked_at = coalesce($3::timestamptz, clock_timestamp())
		FROM unnest($1::text[], $2::int[]) AS n (repo, number) WHERE l.repo = n.repo AND l.number = n.number`, repos, numbers, s.db.Fixed())
	if err != nil {
		return fmt.Errorf("remember the look at %d pull requests: %w", len(pulls), err)
	}
	return nil
}

// PullsOf returns the pull requests of an installation with a wanted cluster: of these repositories, or of all with nil.
func (s *Store) PullsOf(ctx context.Context, installation int64, repos []string) ([]PullRequest, error) {
	list, err := db.All[PullRequest](ctx, s.db.Pool(), `
		SELECT DISTINCT ON (c.repo, c.pr_number) `+pullOfCluster+`
		FROM clusters c LEFT JOIN LATERAL (SELECT * FROM pull_requests p WHERE p.repo = c.repo AND p.number = c.pr_number LIMIT 1) p ON true
		WHERE c.desired = 'present' AND c.repo IS NOT NULL AND c.installation = $1 AND ($2::text[] IS NULL OR c.repo = ANY ($2))
		ORDER BY c.repo, c.pr_number, c.id DESC`, installation, repos)
	if err != nil {
		return nil, fmt.Errorf("list pull requests of installation %d: %w", installation, err)
	}
	return list, nil
}

// ReachedBefore returns those of the repositories whose rows name another installation than this one.
func (s *Store) ReachedBefore(ctx context.Context, repos []string, installation int64) (before []string, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT coalesce(array_agg(repo ORDER BY repo), '{}') FROM (
			SELECT repo FROM pull_requests WHERE repo = ANY ($1) AND installation <> $2
			UNION SELECT repo FROM clusters WHERE repo = ANY ($1) AND installation <> $2) r`, repos, installation).Scan(&before)
	if err != nil {
		return nil, fmt.Errorf("look which of %d repositories installation %d reaches anew: %w", len(repos), installation, err)
	}
	return before, nil
}

// EndedOnHead returns the clusters that have a check on a commit, have the desired state absent, and were not replaced by a
// newer one of the same pull request and profile.
func (s *Store) EndedOnHead(ctx context.Context, repo, head string) (found []string, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT coalesce(array_agg(DISTINCT c.id), '{}') FROM subscribers s JOIN clusters c ON c.id = s.cluster_id
		WHERE s.kind = $3 AND s.repo = $1 AND s.head = $2 AND NOT s.left_behind AND c.desired = 'absent' AND NOT EXISTS (
			SELECT 1 FROM clusters n WHERE n.repo = c.repo AND n.pr_number = c.pr_number AND n.profile = c.profile AND n.generation > c.generation)`,
		repo, head, clusters.KindCheck).Scan(&found)
	if err != nil {
		return nil, fmt.Errorf("look for clusters that ended on %s of %s: %w", head, repo, err)
	}
	return found, nil
}

// PullRequest is the newest state seen of a pull request.
type PullRequest struct {
	Installation int64
	Repo         string // owner/name
	Number       int
	Open         bool
	Draft        bool
	Merged       bool
	Fork         bool
	Labels       []string
	Author       string
	AuthorID     int64     // GitHub's number of the author's account; 0: not known
	Association  string    // of the author with the repository, in GitHub's spelling: NONE, FIRST_TIMER, FIRST_TIME_CONTRIBUTOR, CONTRIBUTOR, COLLABORATOR, MEMBER, OWNER; empty: unknown
	Head, Base   string    // SHA, branch
	HeadRef      string    // branch; empty: the source did not know it, nor Draft and Merged
	RepoID       int64     // GitHub's id of the repository, which a renaming does not change; 0: unknown
	UpdatedAt    time.Time // GitHub's updated_at
	HeadAt       time.Time `json:"-"` // Head was there no later than this, by GitHub's clock; filled by the store
}
