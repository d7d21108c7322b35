package runs

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Ties are what connects a run with a cluster.
type Ties struct {
	Run         bool // the cluster belongs to the run, or the run asked for it
	PullRequest bool // the cluster is of the run's pull request
	Signal      bool // a run of the same repository asked to be told of it
	Alone       bool // it belongs to no run and no pull request
}

// NoteRequest writes down which run asked for a cluster that does not end with it.
func NoteRequest(ctx context.Context, tx *db.Tx, cluster string, ref Ref) error {
	c := tx
	args, err := writeDown(ctx, c, ref)
	if err != nil {
		return err
	}
	run, err := db.One[Run](ctx, c, byToken, args)
	if err != nil {
		return fmt.Errorf("look for the run that asked for %s: %w", cluster, err)
	}
	if _, err := c.Exec(ctx, `INSERT INTO run_requests (cluster_id, run_id) VALUES ($1, $2)`, cluster, run.ID); err != nil {
		return fmt.Errorf("write which run asked for %s: %w", cluster, err)
	}
	return nil
}

// TiesOf returns what connects a run with a cluster. A run of Tekton without a key stands for all of its namespace. pull is the number of
// the run's pull request in the repository that the run's scope names; 0: none that counts.
func (s *Store) TiesOf(ctx context.Context, cluster string, ref Ref, pull int) (Ties, error) {
	ties, err := db.One[Ties](ctx, s.db.Pool(), `
		WITH siblings AS (SELECT id, key FROM runs WHERE platform = @platform AND issuer = @issuer AND scope = @scope)
		SELECT
			EXISTS (SELECT FROM (SELECT run_id, cluster_id FROM run_clusters UNION ALL SELECT run_id, cluster_id FROM run_requests) b
				JOIN siblings r ON r.id = b.run_id WHERE b.cluster_id = c.id AND (r.key = @key OR @any)) AS run,
			@pull > 0 AND c.repo_id::text = @scope AND c.pr_number = @pull AS pull_request,
			EXISTS (SELECT FROM signals g JOIN siblings r ON r.id = g.run_id WHERE g.cluster_id = c.id) AS signal,
			NOT EXISTS (SELECT FROM run_clusters b WHERE b.cluster_id = c.id) AND coalesce(c.pr_number, 0) = 0 AS alone
		FROM clusters c WHERE c.id = @cluster`, pgx.NamedArgs{
		"cluster": cluster, "platform": ref.Platform, "issuer": ref.Issuer, "scope": ref.Scope, "key": ref.Key, "any": ref.Platform == lifecycle.Tekton && ref.Key == "", "pull": pull,
	})
	if err != nil {
		return Ties{}, fmt.Errorf("read what connects %s with a run: %w", cluster, err)
	}
	return ties, nil
}
