package attempts

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// ownOutcomes are the outcomes that a runner may report.
var ownOutcomes = []lifecycle.Outcome{lifecycle.Succeeded, lifecycle.Failure, lifecycle.Stopped, lifecycle.Waiting}

// Result closes the attempt with the runner's outcome. The same result again changes nothing; a result after the attempt was
// closed otherwise is answered with stop and not stored.
func (s *Store) Result(ctx context.Context, attemptID, tokenID string, r ResultRow) (Lease, error) {
	if !slices.Contains(ownOutcomes, r.Outcome) {
		return Lease{}, fmt.Errorf("result of attempt %s: %w: outcome %q is none of %v", attemptID, db.ErrConflict, r.Outcome, ownOutcomes)
	}
	var lease Lease
	err := s.db.Write(ctx, func(c *db.Tx) error {
		f, err := LockAttempt(ctx, c, attemptID, tokenID)
		switch {
		case err != nil:
			return err
		case f.Closed && f.Repeats(r):
			lease = Lease{Closed: true}
			return nil
		case f.Closed:
			lease = Lease{Stop: f.Stop(), Closed: true}
			return nil
		case !f.Claimed:
			return fmt.Errorf("nobody claimed the attempt: %w", db.ErrFenced)
		case r.Workers != nil && f.Kind != lifecycle.Scale:
			return fmt.Errorf("%w: only a scaling counts workers", db.ErrConflict)
		case r.Zone != "" && (f.Kind != lifecycle.Create || r.Outcome != lifecycle.Failure):
			return fmt.Errorf("%w: only a create that failed finds no capacity in a zone", db.ErrConflict)
		case r.Addons != nil && !slices.Contains([]lifecycle.Kind{lifecycle.Create, lifecycle.Configure, lifecycle.Prepare}, f.Kind):
			return fmt.Errorf("%w: only a create, a refresh or a preparing brings add-ons", db.ErrConflict)
		case r.Asleep != nil && f.Kind != lifecycle.Sleep && f.Kind != lifecycle.Wake:
			return fmt.Errorf("%w: only a runner that puts a cluster to sleep or wakes it sees whether it is asleep", db.ErrConflict)
		case !r.LastUse.IsZero() && (f.Kind != lifecycle.Observe || r.Outcome != lifecycle.Succeeded):
			return fmt.Errorf("%w: only a look inside that succeeded sees when people used the cluster", db.ErrConflict)
		case r.Links != nil && (f.Kind != lifecycle.Inform || r.Outcome != lifecycle.Succeeded):
			return fmt.Errorf("%w: only an attempt that read links, and succeeded, reports them", db.ErrConflict)
		case r.Outcome == lifecycle.Succeeded && f.Kind == lifecycle.Create && !f.Recorded:
			return fmt.Errorf("%w: a create that recorded no identity cannot have succeeded", db.ErrConflict)
		}
		if err := finish(ctx, c, f, r); err != nil {
			return err
		}
		lease = Lease{Closed: true}
		return clusters.RequestReconcile(ctx, c, f.ID)
	})
	if err != nil {
		return Lease{}, fmt.Errorf("result of attempt %s: %w", attemptID, err)
	}
	return lease, nil
}

func finish(ctx context.Context, c *db.Tx, f Fenced, r ResultRow) error {
	_, err := c.Exec(ctx, `
		UPDATE attempts SET closed_at = @now, outcome = @outcome, reason = @reason, message = @message, failing_line = @line, zone = @zone,
			whose = @whose, next = @next, retryable = @retryable, workers_seen = @workers, addons_seen = @addons, asleep_seen = @asleep,
			use_seen = @use
		WHERE id = @id`,
		pgx.NamedArgs{
			"id": f.AttemptID, "now": c.Now, "outcome": r.Outcome, "reason": r.Reason, "message": r.Message, "line": r.Line, "zone": r.Zone,
			"whose": r.Whose, "next": r.Next, "retryable": r.Retryable, "workers": r.Workers, "addons": r.Addons, "asleep": r.Asleep,
			"use": db.Null(r.LastUse),
		})
	if err != nil {
		return fmt.Errorf("close the attempt: %w", err)
	}
	clusters.FreeRunner(c)
	if f.Kind == lifecycle.Observe && !r.LastUse.IsZero() {
		return clusters.WasActive(ctx, c, f.Held, lifecycle.HourUsed(r.LastUse, c.Now), lifecycle.ActivityRequests)
	}
	if r.Links != nil {
		if _, err := c.Exec(ctx, `UPDATE cluster_outputs SET links = $2 WHERE cluster_id = $1 AND links IS DISTINCT FROM $2`, f.ID, *r.Links); err != nil {
			return fmt.Errorf("keep the links: %w", err)
		}
	}
	if r.Outputs == nil || r.Outcome != lifecycle.Succeeded || f.Kind != lifecycle.Create {
		return nil
	}
	_, err = c.Exec(ctx, `
		INSERT INTO cluster_outputs (cluster_id, api_url, console_url, kubeconfig_s3_uri, kubeadmin_secret_ref, metadata_s3_uri)
		VALUES (@cluster, @api, @console, @kubeconfig, @kubeadmin, @metadata)
		ON CONFLICT (cluster_id) DO UPDATE SET api_url = excluded.api_url, console_url = excluded.console_url,
			kubeconfig_s3_uri = excluded.kubeconfig_s3_uri, kubeadmin_secret_ref = excluded.kubeadmin_secret_ref,
			metadata_s3_uri = excluded.metadata_s3_uri`,
		pgx.NamedArgs{
			"cluster": f.ID, "api": r.Outputs.APIURL, "console": r.Outputs.ConsoleURL, "kubeconfig": r.Outputs.KubeconfigRef,
			"kubeadmin": r.Outputs.KubeadminRef, "metadata": r.Outputs.MetadataRef,
		})
	if err != nil {
		return fmt.Errorf("keep the outputs: %w", err)
	}
	return nil
}
