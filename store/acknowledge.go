package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Record remembers under which names something is about to be made. The acknowledgement is the transition: one transaction
// stores the identity and moves the cluster into its next phase, or the lease says stop and nothing is stored.
// The same record again is answered as before; ErrConflict: another one was acknowledged for this attempt.
func (s *Store) Record(ctx context.Context, attemptID, tokenID string, id IdentityRow, artifacts []ArtifactRow) (Lease, error) {
	var lease Lease
	err := s.write(ctx, func(c *change) (err error) {
		f, err := c.hold(ctx, attemptID, tokenID)
		if err != nil {
			return err
		}
		if why := f.unwanted(); why != "" {
			lease = Lease{Stop: why}
			return nil
		}
		if err := f.recordable(id); err != nil {
			return err
		}
		if err := c.keepArtifacts(ctx, f, artifacts); err != nil {
			return err
		}
		if f.recorded && merged(f.identity, id) == f.identity {
			lease, err = c.renew(ctx, f)
			return err
		}
		lease, err = c.acknowledge(ctx, f, merged(f.identity, id))
		return err
	})
	if err != nil {
		return Lease{}, fmt.Errorf("record for attempt %s: %w", attemptID, err)
	}
	return lease, nil
}

// acknowledge stores the identity and lets the heart move the cluster in the same breath.
func (c *change) acknowledge(ctx context.Context, f fenced, id IdentityRow) (Lease, error) {
	phase := lifecycle.Claiming
	if id.InfraID != "" {
		phase = lifecycle.Installing
	}
	_, err := c.Exec(ctx, `
		UPDATE attempts SET recorded_at = coalesce(recorded_at, @now), phase = @phase, lease_until = @lease,
			infra_id = nullif(@infra_id, ''), cluster_uuid = nullif(@cluster_uuid, ''), cco_name = nullif(@cco_name, ''),
			account = nullif(@account, ''), region = nullif(@region, ''), release_digest = nullif(@release_digest, ''),
			metadata = nullif(@metadata, '')
		WHERE id = @id`,
		pgx.NamedArgs{
			"id": f.id, "now": c.now, "phase": phase, "lease": c.leaseEnd(), "infra_id": id.InfraID, "cluster_uuid": id.ClusterUUID,
			"cco_name": id.CCOName, "account": id.Account, "region": id.Region, "release_digest": id.ReleaseDigest, "metadata": id.Metadata,
		})
	if err != nil {
		return Lease{}, fmt.Errorf("store the identity: %w", err)
	}
	cluster, facts, err := c.store.loadIn(ctx, c.Tx, f.ID)
	if err != nil {
		return Lease{}, err
	}
	facts.Runner = lifecycle.Alive // it is talking to us
	d := lifecycle.Decide(cluster, facts, c.store.options.Limits)
	if err := c.decide(ctx, held{cluster, f.hourly}, d); err != nil {
		return Lease{}, err
	}
	lease := Lease{Until: c.leaseEnd()}
	if d.StopNow || d.Close != nil {
		lease.Stop = d.Next.Why
	}
	return lease, c.poke(ctx, f.ID)
}

// recordable refuses what this attempt cannot have.
func (f fenced) recordable(id IdentityRow) error {
	switch {
	case f.kind != lifecycle.Create:
		return fmt.Errorf("%w: only a create records an identity", ErrConflict)
	case !f.claimed:
		return fmt.Errorf("nobody claimed the attempt: %w", ErrFenced)
	case id.InfraID == "" && id.CCOName == "":
		return fmt.Errorf("%w: a record needs an infraID or a ccoctl name", ErrConflict)
	case contradicts(f.identity, id):
		return fmt.Errorf("%w: attempt %d is recorded as %q", ErrConflict, f.number, f.identity.InfraID+f.identity.CCOName)
	}
	return nil
}

// contradicts reports that a field written before would change.
func contradicts(have, id IdentityRow) bool { return merged(have, id) != merged(id, have) }

// merged is the first identity with its empty fields taken from the second.
func merged(a, b IdentityRow) IdentityRow {
	for _, field := range []struct {
		to   *string
		from string
	}{
		{&a.InfraID, b.InfraID},
		{&a.ClusterUUID, b.ClusterUUID},
		{&a.CCOName, b.CCOName},
		{&a.Account, b.Account},
		{&a.Region, b.Region},
		{&a.ReleaseDigest, b.ReleaseDigest},
		{&a.Metadata, b.Metadata},
	} {
		if *field.to == "" {
			*field.to = field.from
		}
	}
	return a
}
