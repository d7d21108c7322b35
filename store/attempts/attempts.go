package attempts

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// OpenAttempt returns what is needed to start, watch and stop the cluster's open attempt. ErrNotFound: none is open.
func (s *Store) OpenAttempt(ctx context.Context, cluster string) (LaunchSpec, error) {
	spec, err := db.One[LaunchSpec](ctx, s.db.Pool(), `
		SELECT a.id AS attempt, a.number, a.kind, a.cluster_id AS cluster, a.job_id AS job, a.token_id AS token, true AS open,
			a.claimed_at IS NOT NULL AS claimed, a.launched_at IS NOT NULL AS launched,
			coalesce(a.lease_until, '0001-01-01 00:00:00Z') AS lease_until, c.team, c.profile, c.platform,
			c.spec -> 'serviceAccounts' AS service_accounts,
			coalesce((CASE a.kind WHEN 'create' THEN c.spec ->> 'createDeadline' WHEN 'destroy' THEN c.spec ->> 'destroyDeadline' END)::bigint, 0) AS deadline
		FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE a.cluster_id = $1 AND a.closed_at IS NULL`, cluster)
	if err != nil {
		return LaunchSpec{}, fmt.Errorf("read the open attempt of %s: %w", cluster, err)
	}
	return spec, nil
}

// AttemptSpec returns everything that a runner's spec is built from. The attempt may be open or closed.
func (s *Store) AttemptSpec(ctx context.Context, attempt string) (SpecRow, error) {
	var spec SpecRow
	var cluster string
	err := s.db.Pool().QueryRow(ctx, `
		SELECT cluster_id, id, number, kind, job_id, token_id, closed_at IS NULL, coalesce(lease_until, '0001-01-01 00:00:00Z'),
			coalesce(workers_wanted, 0), spot, correlation, traceparent,
			ARRAY(SELECT DISTINCT e.zone FROM attempts e WHERE e.cluster_id = a.cluster_id AND a.kind = 'create' AND e.number < a.number AND e.zone <> '' ORDER BY e.zone)
		FROM attempts a WHERE id = $1`, attempt).
		Scan(&cluster, &spec.Attempt, &spec.Number, &spec.Kind, &spec.Job, &spec.Token, &spec.Open, &spec.LeaseUntil, &spec.Workers, &spec.Spot,
			&spec.Cause.Correlation, &spec.Cause.Traceparent, &spec.ShortZones)
	if err != nil {
		return SpecRow{}, fmt.Errorf("read attempt %s: %w", attempt, db.Plain(err))
	}
	if spec.Row, err = clusters.Read(ctx, s.db, cluster); err != nil {
		return SpecRow{}, err
	}
	if spec.Identities, err = s.identities(ctx, cluster); err != nil {
		return SpecRow{}, err
	}
	if spec.Artifacts, err = s.artifacts(ctx, cluster); err != nil {
		return SpecRow{}, err
	}
	if spec.Kind == lifecycle.Create || spec.Kind == lifecycle.Configure || spec.Kind == lifecycle.Prepare && spec.Row.Work[lifecycle.Configure].IsRequested() {
		if spec.Addons, err = s.addons(ctx, cluster); err != nil {
			return SpecRow{}, err
		}
	}
	return spec, nil
}

// AttemptScope is what the control plane itself knows of an attempt: everything its runner reports must match it.
type AttemptScope struct {
	Cluster                            string // id
	Installation                       string // the control plane that accepted the cluster, from the cluster's tags; empty: unknown
	Number                             int
	Kind                               lifecycle.Kind
	Token                              string // token id (jti) of the attempt's JWT
	Closed                             bool
	Platform, Name, BaseDomain, Region string
	Server                             string // of the hub that the cluster is on; empty: it is on none
}

// AttemptScope returns the scope of an attempt, open or closed. ErrNotFound: there is none of that id.
func (s *Store) AttemptScope(ctx context.Context, attempt string) (AttemptScope, error) {
	scope, err := db.One[AttemptScope](ctx, s.db.Pool(), `
		SELECT a.cluster_id AS cluster, coalesce(c.effective_tags ->> 'InstallationId', '') AS installation, a.number,
			a.kind, a.token_id AS token, a.closed_at IS NOT NULL AS closed, c.platform, c.name, c.base_domain, c.region,
			coalesce(c.spec ->> 'server', '') AS server
		FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE a.id = $1`, attempt)
	if err != nil {
		return AttemptScope{}, fmt.Errorf("read the scope of attempt %s: %w", attempt, err)
	}
	return scope, nil
}

// identities returns the recorded names, the oldest first; last that of the create that succeeded, because recovery and cleanups add names that
// were found later, and nobody installed the cluster with those.
func (s *Store) identities(ctx context.Context, cluster string) ([]IdentityRow, error) {
	out, err := db.All[IdentityRow](ctx, s.db.Pool(), `
		SELECT coalesce(infra_id, '') AS infra_id, coalesce(cluster_uuid, '') AS cluster_uuid, coalesce(cco_name, '') AS cco_name,
			coalesce(account, '') AS account, coalesce(region, '') AS region, coalesce(release_digest, '') AS release_digest,
			coalesce(metadata, '') AS metadata, coalesce(installer_sha256, '') AS installer_sha256,
			coalesce(resource_group_id, '') AS resource_group_id
		FROM attempts WHERE cluster_id = $1 AND recorded_at IS NOT NULL ORDER BY coalesce(outcome = 'succeeded', false), number`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read identities of %s: %w", cluster, err)
	}
	return out, nil
}

func (s *Store) artifacts(ctx context.Context, cluster string) ([]ArtifactRow, error) {
	out, err := db.All[ArtifactRow](ctx, s.db.Pool(), `
		SELECT artifact_type AS type, s3_key AS key, manifest_key, checksum AS sha256, size, infra_id, taken_at
		FROM artifacts WHERE cluster_id = $1 ORDER BY taken_at DESC, created_at DESC`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read artifacts of %s: %w", cluster, err)
	}
	return out, nil
}
