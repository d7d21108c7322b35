package pullrequests

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// RenameRepository moves what we know of a repository to another name, another installation, or both: its clusters, their
// subscribers, its pull requests, the subscriptions of channels, and the waiting replies and effects. id is GitHub's number of the repository; with 0
// everything under the name moves. installation 0: it stays. It returns how many clusters moved.
//
// Nothing happens if no rows of that repository have the old name: a repeated or late event changes nothing, even if the name is
// another repository's by then. A repository that has the new name in our rows must have been renamed too: its rows wait under a
// placeholder name until we learn its new one.
func (s *Store) RenameRepository(ctx context.Context, from, to string, id, installation int64, d clusters.Origin) (clusters int, err error) {
	if from == "" || to == "" {
		return 0, fmt.Errorf("rename %q to %q: %w: a repository has a name before and after", from, to, db.ErrConflict)
	}
	err = s.db.Write(ctx, func(c *db.Tx) error {
		if err := c.TakeLocks(ctx, renaming(from, to)); err != nil {
			return err
		}
		clusters, err = rename(ctx, c, carriage{from: from, to: to, id: id, installation: installation}, d)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("rename %s to %s: %w", from, to, err)
	}
	return clusters, nil
}

// otherwise is a pull request that is known under another name, or whose name belongs to another repository.
type otherwise struct {
	Repo      string
	RepoID    int64
	UpdatedAt time.Time
}

// findUnderOtherName returns the pull request under another name of its repository, and another repository's pull request of that
// number under its name.
func (s *Store) findUnderOtherName(ctx context.Context, pr PullRequest) ([]otherwise, error) {
	if pr.RepoID == 0 {
		return nil, nil
	}
	return db.All[otherwise](ctx, s.db.Pool(), `
		(SELECT repo, repo_id, updated_at FROM pull_requests WHERE repo = $3 AND number = $2 AND repo_id NOT IN (0, $1))
		UNION ALL
		(SELECT repo, repo_id, updated_at FROM pull_requests WHERE repo_id = $1 AND number = $2 AND repo_id <> 0 AND repo <> $3
			ORDER BY updated_at DESC LIMIT 1)`, pr.RepoID, pr.Number, pr.Repo)
}

// giveWay takes the name under which a pull request was seen from any other repository: a repository that was deleted and
// created again must not find what its predecessor had.
func (s *Store) giveWay(ctx context.Context, pr PullRequest) error {
	return s.db.Write(ctx, func(c *db.Tx) error {
		if err := c.TakeLocks(ctx, renaming(pr.Repo)); err != nil {
			return err
		}
		return displace(ctx, c, carriage{to: pr.Repo, id: pr.RepoID}, clusters.Origin{Actor: db.Lifecycle})
	})
}

// renaming returns the locks of a renaming: new acceptances wait, and so does a pass over the queue, which locks many clusters
// in its own order.
func renaming(names ...string) []string {
	locks := []string{"turns"}
	for _, name := range names {
		locks = append(locks, "quota repository "+name)
	}
	slices.Sort(locks)
	return locks
}

// carriage moves the rows of one repository from one name to another.
type carriage struct {
	from, to         string
	id, installation int64
	alone            bool // no other repository is known by that name: rows without a repository id belong to this one
}

// nameless is the placeholder name of a repository that lost its name to another. No name on GitHub has a ~.
func nameless(id int64) string { return withoutName + strconv.FormatInt(id, 10) }

const withoutName = "repository/~"

// Nameless reports whether a repository lost its name to another and its new name is not known, or it no longer exists.
func Nameless(repo string) bool { return strings.HasPrefix(repo, withoutName) }

func rename(ctx context.Context, c *db.Tx, to carriage, d clusters.Origin) (clusters int, err error) {
	names := []string{to.from}
	if to.id != 0 {
		names = append(names, nameless(to.id))
	}
	var ways []carriage
	for _, from := range names {
		way := carriage{from: from, to: to.to, id: to.id, installation: to.installation}
		some, err := carries(ctx, c, &way)
		if err != nil {
			return 0, err
		}
		if some {
			ways = append(ways, way)
		}
	}
	if len(ways) == 0 {
		return 0, nil
	}
	if err := displace(ctx, c, to, d); err != nil {
		return 0, err
	}
	for _, way := range ways {
		n, err := carry(ctx, c, way, d)
		if err != nil {
			return 0, err
		}
		clusters += n
	}
	return clusters, nil
}

// displace moves any other repository away from the name.
func displace(ctx context.Context, c *db.Tx, to carriage, d clusters.Origin) error {
	if to.id == 0 || to.from == to.to {
		return nil
	}
	others, err := db.All[struct{ ID int64 }](ctx, c, `
		SELECT repo_id AS id FROM pull_requests WHERE repo = $1 AND repo_id NOT IN (0, $2)
		UNION SELECT repo_id FROM clusters WHERE repo = $1 AND repo_id NOT IN (0, $2) ORDER BY 1`, to.to, to.id)
	if err != nil {
		return fmt.Errorf("look who has the name: %w", err)
	}
	d.Instead = lifecycle.Noted(fmt.Sprintf("%s is the name of another repository now, and what this one is called was not heard yet", to.to))
	for _, other := range others {
		way := carriage{from: to.to, to: nameless(other.ID), id: other.ID}
		if _, err := carries(ctx, c, &way); err != nil {
			return err
		}
		if _, err := carry(ctx, c, way, d); err != nil {
			return err
		}
	}
	return nil
}

// isCarried selects the rows x of the repository that still have to be moved.
const isCarried = `(x.repo = @from AND (@id = 0 OR x.repo_id = @id OR (x.repo_id = 0 AND @alone))
	AND (x.repo <> @to OR x.installation <> coalesce(nullif(@installation::bigint, 0), x.installation)))`

func (w carriage) args() pgx.NamedArgs {
	return pgx.NamedArgs{"from": w.from, "to": w.to, "id": w.id, "installation": w.installation, "alone": w.id == 0 || w.alone}
}

// carries reports whether there is anything to move, and sets w.alone.
func carries(ctx context.Context, c *db.Tx, w *carriage) (some bool, err error) {
	err = c.QueryRow(ctx, `SELECT coalesce(bool_and(repo_id IN (0, $2)), true) FROM pull_requests WHERE repo = $1`, w.from, w.id).Scan(&w.alone)
	if err != nil {
		return false, fmt.Errorf("look who has the name %s: %w", w.from, err)
	}
	err = c.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM clusters x WHERE `+isCarried+`) OR EXISTS (SELECT 1 FROM pull_requests x WHERE `+isCarried+`)`,
		w.args()).Scan(&some)
	if err != nil {
		return false, fmt.Errorf("look for rows of %s: %w", w.from, err)
	}
	return some, nil
}

// carry writes the new name over the old. A cluster stays behind if its pull request and profile already have one under the new
// name: its pull request is still found by the old name, because GitHub redirects.
func carry(ctx context.Context, c *db.Tx, w carriage, d clusters.Origin) (list int, err error) {
	if _, err := c.Exec(ctx, `SELECT set_config('ocpctl.renames', 'on', true)`); err != nil {
		return 0, fmt.Errorf("say that it renames: %w", err)
	}
	type cluster struct {
		ID   string
		Live bool
	}
	found, err := db.All[cluster](ctx, c, `
		SELECT x.id, x.destroyed_at IS NULL AS live FROM clusters x WHERE `+isCarried+` AND NOT EXISTS (
			SELECT 1 FROM clusters o WHERE o.id <> x.id AND o.repo = @to AND o.pr_number = x.pr_number AND o.profile = x.profile
				AND (o.generation = x.generation OR (o.desired = 'present' AND x.desired = 'present')))
		ORDER BY x.id FOR NO KEY UPDATE`, w.args())
	if err != nil {
		return 0, fmt.Errorf("lock the clusters of %s: %w", w.from, err)
	}
	ids := make([]string, len(found))
	for i, cl := range found {
		ids[i] = cl.ID
	}
	if err := carryRows(ctx, c, w, ids); err != nil {
		return 0, err
	}
	for _, cl := range found {
		if !cl.Live {
			continue
		}
		if err := clusters.SetDesired(ctx, c, cl.ID, "repo = repo", pgx.NamedArgs{}); err != nil {
			return 0, err
		}
		if err := clusters.RecordAction(c, d, "repository_renamed", cl.ID, clusters.Action{Before: w.from, After: w.to}); err != nil {
			return 0, err
		}
	}
	return len(found), clusters.RecordAction(c, d, "repository_renamed", "", clusters.Action{
		Before: w.from, After: w.to, Note: fmt.Sprintf("GitHub's number %d, %d clusters", w.id, len(found)),
	})
}

// carryRows writes the names. Of a pull request that was seen under both, the newer state stays.
func carryRows(ctx context.Context, c *db.Tx, w carriage, clusters []string) error {
	const (
		carried = `repo = @to, installation = coalesce(nullif(@installation::bigint, 0), x.installation)`
		known   = `, repo_id = CASE x.repo_id WHEN 0 THEN @id ELSE x.repo_id END`
	)
	args := w.args()
	args["clusters"], args["scope"] = clusters, lifecycle.ScopeRepository
	var b db.Batch
	b.Do("rename its clusters", `UPDATE clusters x SET `+carried+known+` WHERE id = ANY (@clusters)`, args)
	b.Do("rename the places that show them", `UPDATE subscribers x SET `+carried+` WHERE cluster_id = ANY (@clusters) AND workspace = ''`, args)
	b.Do("rename their own environments' repository", `UPDATE own_environments x SET `+carried+` WHERE cluster_id = ANY (@clusters) AND repo = @from`, args)
	b.Do("rename its merge groups", `UPDATE merge_groups x SET `+carried+` WHERE repo = @from AND @alone
		AND NOT EXISTS (SELECT FROM merge_groups o WHERE o.repo = @to AND o.repo <> x.repo AND o.head = x.head)`, args)
	b.Do("rename where its merge queues' own clusters are shown", `UPDATE subscribers x SET `+carried+` FROM clusters c
		WHERE c.id = x.cluster_id AND c.pr_number IS NULL AND x.repo = @from AND @alone`, args)
	b.Do("rename what asked for them", `UPDATE request_keys SET key = overlay(key PLACING @to::text FROM length('merge_group:') + 1 FOR length(@from::text))
		WHERE starts_with(key, 'merge_group:' || @from::text || ':') AND @alone AND NOT EXISTS (SELECT FROM request_keys o
			WHERE o.principal = request_keys.principal AND o.key = overlay(request_keys.key PLACING @to::text FROM length('merge_group:') + 1 FOR length(@from::text)) AND o.key <> request_keys.key)`, args) // the form is outbox.MergeGroup.Key's
	b.Do("rename its gates", `UPDATE gates x SET `+carried+` WHERE repo = @from AND @alone
		AND NOT EXISTS (SELECT FROM gates o WHERE o.repo = @to AND o.repo <> x.repo AND o.head = x.head AND o.profile = x.profile)`, args)
	b.Do("have them looked at there", `
		INSERT INTO looks (repo, number, looked_at) SELECT DISTINCT @to, pr_number, '-infinity'::timestamptz FROM clusters
		WHERE id = ANY (@clusters) AND desired = 'present' ON CONFLICT DO NOTHING`, args)
	b.Do("rename what they wait for", `
		UPDATE turns SET limits = (SELECT jsonb_agg(CASE WHEN l ->> 'scope' = @scope AND l ->> 'key' = @from
			THEN jsonb_set(l, '{key}', to_jsonb(@to::text)) ELSE l END ORDER BY nr) FROM jsonb_array_elements(limits) WITH ORDINALITY AS e (l, nr))
		WHERE cluster_id = ANY (@clusters) AND jsonb_array_length(limits) > 0`, args)
	b.Do("rename the replies that wait", `UPDATE replies x SET `+carried+` WHERE external_id = 0 AND repo = @from AND @alone`, args)
	b.Do("rename the effects that wait", `UPDATE effects x SET `+carried+` WHERE done_at IS NULL AND repo = @from AND @alone`, args)
	if !Nameless(w.to) && !strings.EqualFold(w.from, w.to) {
		const both = `(n.workspace, n.channel, n.team) = (x.workspace, x.channel, x.team) AND n.repo = lower(@to::text) AND x.repo = lower(@from::text) AND @alone`
		b.Do("join what channels hear of it under both names", `UPDATE channel_subscriptions n SET events = ARRAY(
			SELECT DISTINCT e FROM unnest(n.events || x.events) e ORDER BY e) FROM channel_subscriptions x WHERE `+both, args)
		b.Do("forget what they heard under the old name", `DELETE FROM channel_subscriptions x USING channel_subscriptions n WHERE `+both, args)
		b.Do("let channels hear of it", `UPDATE channel_subscriptions SET repo = lower(@to::text) WHERE repo = lower(@from::text) AND @alone`, args)
	}
	if w.from != w.to {
		const both = `USING pull_requests x WHERE ` + isCarried + ` AND o.repo = @to AND o.number = x.number`
		b.Do("forget the older states", `DELETE FROM pull_requests o `+both+` AND o.updated_at < x.updated_at`, args)
		b.Do("forget the older states", `
			DELETE FROM pull_requests x WHERE `+isCarried+` AND EXISTS (SELECT 1 FROM pull_requests o WHERE o.repo = @to AND o.number = x.number)`, args)
	}
	b.Do("rename its pull requests", `UPDATE pull_requests x SET `+carried+known+` WHERE `+isCarried, args)
	return c.Send(ctx, &b)
}
