package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Record stores the names under which a runner is about to create something. One transaction stores the identity and moves the
// cluster into its next phase; if the lease says stop, nothing is stored. The same record again gets the same answer.
// ErrConflict: another identity was recorded for this attempt.
func (s *Store) Record(ctx context.Context, attemptID, tokenID string, id IdentityRow, artifacts []ArtifactRow) (Lease, error) {
	var lease Lease
	err := s.write(ctx, func(c *change) (err error) {
		f, err := c.hold(ctx, attemptID, tokenID)
		if err != nil {
			return err
		}
		if why := f.unwanted(); why != "" {
			lease = Lease{Stop: why, Closed: f.closed}
			return nil
		}
		if err := f.recordable(id); err != nil {
			return err
		}
		if err := c.placed(ctx, f, id.Account, id.Region); err != nil {
			return err
		}
		if err := c.leaveCapacityQueue(ctx, f); err != nil {
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

// acknowledge stores the identity and applies the lifecycle's decision in the same transaction.
func (c *change) acknowledge(ctx context.Context, f fenced, id IdentityRow) (Lease, error) {
	phase := lifecycle.Claiming
	if id.InfraID != "" {
		phase = lifecycle.Installing
	}
	_, err := c.Exec(ctx, `
		UPDATE attempts SET recorded_at = coalesce(recorded_at, @now), phase = @phase, lease_until = @lease,
			infra_id = nullif(@infra_id, ''), cluster_uuid = nullif(@cluster_uuid, ''), cco_name = nullif(@cco_name, ''),
			account = nullif(@account, ''), region = nullif(@region, ''), release_digest = nullif(@release_digest, ''),
			metadata = nullif(@metadata, ''), installer_sha256 = nullif(@installer_sha256, '')
		WHERE id = @id`,
		pgx.NamedArgs{
			"id": f.id, "now": c.now, "phase": phase, "lease": c.leaseEnd(), "infra_id": id.InfraID, "cluster_uuid": id.ClusterUUID,
			"cco_name": id.CCOName, "account": id.Account, "region": id.Region, "release_digest": id.ReleaseDigest, "metadata": id.Metadata,
			"installer_sha256": id.InstallerSHA256,
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
	if err := c.decide(ctx, held{cluster, f.listCents, f.machines}, d); err != nil {
		return Lease{}, err
	}
	lease := Lease{Until: c.leaseEnd()}
	if d.StopNow || d.Close != nil {
		lease.Stop = d.Next.Why
	}
	return lease, c.requestReconcile(ctx, f.ID)
}

// recordable returns an error for an identity that this attempt cannot have.
func (f fenced) recordable(id IdentityRow) error {
	switch {
	case f.kind != lifecycle.Create:
		return fmt.Errorf("%w: only a create records an identity", ErrConflict)
	case !f.claimed:
		return fmt.Errorf("nobody claimed the attempt: %w", ErrFenced)
	case id.InfraID == "" && id.CCOName == "":
		return fmt.Errorf("%w: a record needs an infraID or a ccoctl name", ErrConflict)
	}
	for i, have := range f.identity.fields() {
		if said := id.fields()[i]; *have.value != "" && *said.value != "" && *have.value != *said.value {
			return &Contradiction{Field: have.name, Have: *have.value, Said: *said.value}
		}
	}
	return nil
}

// Contradiction is a field in which a runner's report differs from what is stored. It is an ErrConflict.
type Contradiction struct{ Field, Have, Said string }

// Error implements error.
func (e *Contradiction) Error() string {
	return fmt.Sprintf("%s is %.80q, and what is known is %.80q", e.Field, e.Said, e.Have)
}

// Unwrap makes it an ErrConflict.
func (e *Contradiction) Unwrap() error { return ErrConflict }

// placed refuses an account or a region that is not the cluster's: no teardown would look for what is made there.
func (c *change) placed(ctx context.Context, f fenced, account, region string) error {
	have, err := c.accountOf(ctx, f)
	if err != nil {
		return err
	}
	var where string
	err = c.QueryRow(ctx, `SELECT region FROM clusters WHERE id = $1`, f.ID).Scan(&where)
	switch {
	case err != nil:
		return fmt.Errorf("read where %s may be: %w", f.ID, err)
	case have != "" && account != "" && account != have:
		return &Contradiction{Field: "account", Have: have, Said: account}
	case region != "" && region != where:
		return &Contradiction{Field: "region", Have: where, Said: region}
	}
	return nil
}

// accountOf returns the cluster's cloud account: the configured one, else the first recorded. Empty: there is neither.
func (c *change) accountOf(ctx context.Context, f fenced) (account string, err error) {
	err = c.QueryRow(ctx, `
		SELECT coalesce(nullif(c.spec ->> 'account', ''),
			(SELECT a.account FROM attempts a WHERE a.cluster_id = c.id AND a.account IS NOT NULL ORDER BY a.number LIMIT 1), '')
		FROM clusters c WHERE c.id = $1`, f.ID).Scan(&account)
	if err != nil {
		return "", fmt.Errorf("read the account of %s: %w", f.ID, err)
	}
	return account, nil
}

// merged is the first identity, with its empty fields taken from the second.
func merged(a, b IdentityRow) IdentityRow {
	from := b.fields()
	for i, field := range a.fields() {
		if *field.value == "" {
			*field.value = *from[i].value
		}
	}
	return a
}

type identityField struct {
	name  string // as in the API contract
	value *string
}

func (i *IdentityRow) fields() []identityField {
	return []identityField{
		{"infraId", &i.InfraID}, {"clusterUuid", &i.ClusterUUID}, {"ccoName", &i.CCOName}, {"account", &i.Account}, {"region", &i.Region},
		{"releaseDigest", &i.ReleaseDigest}, {"metadata", &i.Metadata}, {"installerSha256", &i.InstallerSHA256},
	}
}
