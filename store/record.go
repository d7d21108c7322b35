package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Record stores the names under which a runner is about to create something. One transaction stores the identity and moves the
// cluster into its next phase; if the lease says stop, nothing is stored. The same record again gets the same answer.
// ErrConflict: another identity was recorded for this attempt.
func (s *Store) Record(ctx context.Context, attemptID, tokenID string, id attempts.IdentityRow, artifacts []attempts.ArtifactRow) (attempts.Lease, error) {
	var lease attempts.Lease
	err := s.Write(ctx, func(c *db.Tx) (err error) {
		f, err := attempts.LockAttempt(ctx, c, attemptID, tokenID)
		if err != nil {
			return err
		}
		if why := f.Unwanted(); why != "" {
			lease = attempts.Lease{Stop: why, Closed: f.Closed}
			return nil
		}
		if err := f.CheckRecordable(id); err != nil {
			return err
		}
		if err := attempts.CheckPlace(ctx, c, f, id.Account, id.Region); err != nil {
			return err
		}
		if err := attempts.LeaveCapacityQueue(ctx, c, f); err != nil {
			return err
		}
		if err := attempts.KeepArtifacts(ctx, c, f, artifacts); err != nil {
			return err
		}
		if f.Recorded && mergeIdentities(f.Identity, id) == f.Identity {
			lease = attempts.RenewLease(c, f)
			return nil
		}
		lease, err = s.acknowledge(ctx, c, f, mergeIdentities(f.Identity, id))
		return err
	})
	if err != nil {
		return attempts.Lease{}, fmt.Errorf("record for attempt %s: %w", attemptID, err)
	}
	return lease, nil
}

// acknowledge stores the identity and applies the lifecycle's decision in the same transaction.
func (s *Store) acknowledge(ctx context.Context, c *db.Tx, f attempts.Fenced, id attempts.IdentityRow) (attempts.Lease, error) {
	phase := lifecycle.Claiming
	if id.InfraID != "" {
		phase = lifecycle.Installing
	}
	_, err := c.Exec(ctx, `
		UPDATE attempts SET recorded_at = coalesce(recorded_at, @now), phase = @phase, lease_until = @lease,
			infra_id = nullif(@infra_id, ''), cluster_uuid = nullif(@cluster_uuid, ''), cco_name = nullif(@cco_name, ''),
			account = nullif(@account, ''), region = nullif(@region, ''), release_digest = nullif(@release_digest, ''),
			metadata = nullif(@metadata, ''), installer_sha256 = nullif(@installer_sha256, ''),
			resource_group_id = nullif(@resource_group_id, '')
		WHERE id = @id`,
		pgx.NamedArgs{
			"id": f.AttemptID, "now": c.Now, "phase": phase, "lease": attempts.LeaseEnd(c), "infra_id": id.InfraID, "cluster_uuid": id.ClusterUUID,
			"cco_name": id.CCOName, "account": id.Account, "region": id.Region, "release_digest": id.ReleaseDigest, "metadata": id.Metadata,
			"installer_sha256": id.InstallerSHA256, "resource_group_id": id.ResourceGroupID,
		})
	if err != nil {
		return attempts.Lease{}, fmt.Errorf("store the identity: %w", err)
	}
	cluster, facts, err := s.loadIn(ctx, c, f.ID)
	if err != nil {
		return attempts.Lease{}, err
	}
	facts.Runner = lifecycle.Alive // it is talking to us
	d := lifecycle.Decide(cluster, facts, c.DB.Options.Limits)
	if err := decide(ctx, c, usage.Held{Cluster: cluster, Prices: f.Prices}, d); err != nil {
		return attempts.Lease{}, err
	}
	lease := attempts.Lease{Until: attempts.LeaseEnd(c)}
	if d.StopNow || d.Close != nil {
		lease.Stop = d.Next.Why.String()
	}
	return lease, clusters.RequestReconcile(ctx, c, f.ID)
}

// mergeIdentities is the first identity, with its empty fields taken from the second.
func mergeIdentities(a, b attempts.IdentityRow) attempts.IdentityRow {
	from := b.Fields()
	for i, field := range a.Fields() {
		if *field.Value == "" {
			*field.Value = *from[i].Value
		}
	}
	return a
}
