package store

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// OpenAttempt returns what is needed to start, watch and stop the cluster's open attempt. ErrNotFound: none is open.
func (s *Store) OpenAttempt(ctx context.Context, cluster string) (LaunchSpec, error) {
	spec, err := one[LaunchSpec](ctx, s.pool, `
		SELECT id AS attempt, number, kind, cluster_id AS cluster, job_id AS job, token_id AS token, true AS open,
			claimed_at IS NOT NULL AS claimed, coalesce(lease_until, '0001-01-01 00:00:00Z') AS lease_until
		FROM attempts WHERE cluster_id = $1 AND closed_at IS NULL`, cluster)
	if err != nil {
		return LaunchSpec{}, fmt.Errorf("read the open attempt of %s: %w", cluster, err)
	}
	return spec, nil
}

// AttemptSpec returns everything that a runner's spec is built from. The attempt may be open or closed.
func (s *Store) AttemptSpec(ctx context.Context, attempt string) (SpecRow, error) {
	var spec SpecRow
	var cluster string
	err := s.pool.QueryRow(ctx, `
		SELECT cluster_id, id, number, kind, job_id, token_id, closed_at IS NULL, coalesce(lease_until, '0001-01-01 00:00:00Z'),
			coalesce(workers_wanted, 0)
		FROM attempts WHERE id = $1`, attempt).
		Scan(&cluster, &spec.Attempt, &spec.Number, &spec.Kind, &spec.Job, &spec.Token, &spec.Open, &spec.LeaseUntil, &spec.Workers)
	if err != nil {
		return SpecRow{}, fmt.Errorf("read attempt %s: %w", attempt, plain(err))
	}
	if spec.Row, err = s.Cluster(ctx, cluster); err != nil {
		return SpecRow{}, err
	}
	if spec.Identities, err = s.identities(ctx, cluster); err != nil {
		return SpecRow{}, err
	}
	if spec.Artifacts, err = s.artifacts(ctx, cluster); err != nil {
		return SpecRow{}, err
	}
	if spec.Kind == lifecycle.Create || spec.Kind == lifecycle.Configure {
		if spec.Addons, err = s.addons(ctx, cluster); err != nil {
			return SpecRow{}, err
		}
	}
	return spec, nil
}

// AttemptScope is what the control plane itself knows of an attempt: everything its runner reports must match it.
type AttemptScope struct {
	Cluster                  string // id
	Installation             string // the control plane that accepted the cluster, from the cluster's tags; empty: unknown
	Number                   int
	Kind                     lifecycle.Kind
	Token                    string // token id (jti) of the attempt's JWT
	Closed                   bool
	Name, BaseDomain, Region string
}

// AttemptScope returns the scope of an attempt, open or closed. ErrNotFound: there is none of that id.
func (s *Store) AttemptScope(ctx context.Context, attempt string) (AttemptScope, error) {
	scope, err := one[AttemptScope](ctx, s.pool, `
		SELECT a.cluster_id AS cluster, coalesce(c.effective_tags ->> 'InstallationId', '') AS installation, a.number,
			a.kind, a.token_id AS token, a.closed_at IS NOT NULL AS closed, c.name, c.base_domain, c.region
		FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE a.id = $1`, attempt)
	if err != nil {
		return AttemptScope{}, fmt.Errorf("read the scope of attempt %s: %w", attempt, err)
	}
	return scope, nil
}

func (s *Store) identities(ctx context.Context, cluster string) ([]IdentityRow, error) {
	out, err := all[IdentityRow](ctx, s.pool, `
		SELECT coalesce(infra_id, '') AS infra_id, coalesce(cluster_uuid, '') AS cluster_uuid, coalesce(cco_name, '') AS cco_name,
			coalesce(account, '') AS account, coalesce(region, '') AS region, coalesce(release_digest, '') AS release_digest,
			coalesce(metadata, '') AS metadata, coalesce(installer_sha256, '') AS installer_sha256
		FROM attempts WHERE cluster_id = $1 AND recorded_at IS NOT NULL ORDER BY number`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read identities of %s: %w", cluster, err)
	}
	return out, nil
}

func (s *Store) artifacts(ctx context.Context, cluster string) ([]ArtifactRow, error) {
	out, err := all[ArtifactRow](ctx, s.pool, `
		SELECT artifact_type AS type, s3_key AS key, manifest_key, checksum AS sha256, size, infra_id, taken_at
		FROM artifacts WHERE cluster_id = $1 ORDER BY taken_at DESC, created_at DESC`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read artifacts of %s: %w", cluster, err)
	}
	return out, nil
}

// fenced is a runner's attempt, read after its token was checked, with its cluster locked.
type fenced struct {
	held
	id        string
	number    int
	kind      lifecycle.Kind
	pod       string
	claimed   bool
	stopAsked bool
	stopWhy   string
	phase     lifecycle.Phase
	percent   int
	step      string
	recorded  bool
	identity  IdentityRow
	closed    bool
	result    ResultRow // of a closed attempt
}

// hold locks the attempt's cluster and reads the attempt. ErrFenced: the token is not this attempt's.
func (c *change) hold(ctx context.Context, attempt, token string) (fenced, error) {
	var cluster string
	if err := c.QueryRow(ctx, `SELECT cluster_id FROM attempts WHERE id = $1`, attempt).Scan(&cluster); err != nil {
		return fenced{}, fmt.Errorf("find attempt %s: %w", attempt, err)
	}
	cur, err := c.lock(ctx, cluster)
	if err != nil {
		return fenced{}, err
	}
	f := fenced{held: cur, id: attempt}
	var known string
	id := &f.identity
	err = c.QueryRow(ctx, `
		SELECT token_id, number, kind, coalesce(claimed_by, ''), claimed_at IS NOT NULL, stop_asked, stop_why, phase,
			progress_percent, progress_step, recorded_at IS NOT NULL,
			coalesce(infra_id, ''), coalesce(cluster_uuid, ''), coalesce(cco_name, ''), coalesce(account, ''), coalesce(region, ''),
			coalesce(release_digest, ''), coalesce(metadata, ''), coalesce(installer_sha256, ''),
			closed_at IS NOT NULL, coalesce(outcome, ''), reason, message, whose, next, retryable
		FROM attempts WHERE id = $1`, attempt).Scan(
		&known, &f.number, &f.kind, &f.pod, &f.claimed, &f.stopAsked, &f.stopWhy, &f.phase, &f.percent, &f.step, &f.recorded,
		&id.InfraID, &id.ClusterUUID, &id.CCOName, &id.Account, &id.Region, &id.ReleaseDigest, &id.Metadata, &id.InstallerSHA256,
		&f.closed, &f.result.Outcome, &f.result.Reason, &f.result.Message, &f.result.Whose, &f.result.Next, &f.result.Retryable)
	if err != nil {
		return fenced{}, fmt.Errorf("read attempt %s: %w", attempt, err)
	}
	if known != token {
		return fenced{}, fmt.Errorf("attempt %s: %w", attempt, ErrFenced)
	}
	return f, nil
}

// stop returns why this runner has to stop; empty: it may go on.
func (f fenced) stop() string {
	switch {
	case f.closed && f.result.Message != "":
		return fmt.Sprintf("attempt %d is closed: %s", f.number, f.result.Message)
	case f.closed:
		return fmt.Sprintf("attempt %d is closed", f.number)
	case f.stopAsked && f.stopWhy != "":
		return f.stopWhy
	case f.stopAsked:
		return "the control plane asked it to stop"
	}
	return ""
}

// unwanted returns why nothing new may be created in the cloud: stop's reason, or that the cluster's desired state is absent.
func (f fenced) unwanted() string {
	if why := f.stop(); why != "" {
		return why
	}
	if f.kind != lifecycle.Destroy && f.Desired == lifecycle.Absent {
		return f.DesiredWhy
	}
	return ""
}

// renew extends the lease, counted from now.
func (c *change) renew(ctx context.Context, f fenced) (Lease, error) {
	lease := Lease{Stop: f.stop(), Until: c.leaseEnd()}
	if _, err := c.Exec(ctx, `UPDATE attempts SET lease_until = $2 WHERE id = $1`, f.id, lease.Until); err != nil {
		return Lease{}, fmt.Errorf("renew the lease of %s: %w", f.id, err)
	}
	return lease, nil
}

func (c *change) leaseEnd() time.Time { return c.now.Add(c.store.options.Lease) }
