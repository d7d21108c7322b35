package store

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/reports"
)

// tellBlocked updates the finding of a blocked teardown with the cluster's next row: each try renews it, and the end of the
// cluster resolves it. The next look for findings would do the same minutes later.
func tellBlocked(ctx context.Context, c *db.Tx, cur, next lifecycle.Cluster) error {
	if f, blocked := (lifecycle.KnownCluster{Cluster: next, MovedAt: c.Now}).BlockedTeardown(); blocked {
		_, err := clusters.KeepFindings(ctx, c, []lifecycle.Finding{f})
		return err
	}
	if _, was := (lifecycle.KnownCluster{Cluster: cur}).BlockedTeardown(); !was {
		return nil
	}
	_, err := c.Exec(ctx, `UPDATE findings SET resolved_at = $3 WHERE cluster_id = $1 AND kind = $2 AND resolved_at IS NULL`, cur.ID, lifecycle.Blocked, c.Now)
	if err != nil {
		return fmt.Errorf("resolve the finding of %s: %w", cur.ID, err)
	}
	return nil
}

// planRemovals records what is to be deleted of a cluster that has just been released. One that was released before has new objects since.
func planRemovals(ctx context.Context, c *db.Tx, cluster string) error {
	_, err := c.Exec(ctx, `
		INSERT INTO removals (cluster_id, kind) SELECT $1, unnest($2::text[])
		ON CONFLICT (cluster_id, kind) DO UPDATE SET done_at = NULL, tries = 0, problem = ''`,
		cluster, []reports.RemovalKind{reports.RemoveAccess, reports.RemoveAccessAgain, reports.RemoveState})
	if err != nil {
		return fmt.Errorf("plan what is to be deleted of %s: %w", cluster, err)
	}
	c.Enqueue(queue.RemoveArgs{News: "released " + cluster})
	return nil
}

// removeOwnEnvironment has the deployments removed of a cluster that was first shown when each cluster had an environment of its own.
func removeOwnEnvironment(ctx context.Context, c *db.Tx, cluster string) error {
	places, err := db.All[struct {
		Repo         string
		Installation int64
		Environment  string
	}](ctx, c, `DELETE FROM own_environments WHERE cluster_id = $1 RETURNING repo, installation, environment`, cluster)
	if err != nil {
		return fmt.Errorf("look for the environment of %s: %w", cluster, err)
	}
	var effects []clusters.Effect
	for _, at := range places {
		effects = append(effects, clusters.Effect{
			Cause: "deployments:" + cluster + ":" + at.Repo, Kind: clusters.EffectRemoveDeployments, Installation: at.Installation, Repo: at.Repo, Content: at.Environment,
		})
	}
	return clusters.SaveEffects(ctx, c, effects)
}
