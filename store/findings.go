package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// FindingRow is one finding as stored.
type FindingRow struct {
	Kind                    lifecycle.FindingKind
	Cluster                 string // empty: no cluster is known for it
	Identity                string
	Since                   time.Time // since when it is so, this time
	Why                     string
	Evidence                []string
	FirstSeenAt, LastSeenAt time.Time
	TimesSeen               int        // in a row
	ResolvedAt              *time.Time // nil: still so
}

// findingKey is what a finding is about.
type findingKey struct {
	Kind              lifecycle.FindingKind
	Cluster, Identity string
}

func keyOf(f lifecycle.Finding) findingKey { return findingKey{f.Kind, f.Cluster, f.Identity} }

// SaveFindings stores what one sweep found, and returns the findings that are new. judged are the kinds that the sweep could
// judge: an open finding of these kinds that is not in found is resolved. Other kinds stay as they are.
func (s *Store) SaveFindings(ctx context.Context, judged []lifecycle.FindingKind, found []lifecycle.Finding) (fresh []lifecycle.Finding, err error) {
	found = merge(found)
	err = s.write(ctx, func(c *change) error {
		if err := c.resolveFindings(ctx, judged, found); err != nil {
			return err
		}
		fresh, err = c.keepFindings(ctx, found)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("save %d findings: %w", len(found), err)
	}
	return fresh, nil
}

// merge joins findings about the same thing, e.g. of one name in two regions.
func merge(found []lifecycle.Finding) []lifecycle.Finding {
	var out []lifecycle.Finding
	at := map[findingKey]int{}
	for _, f := range found {
		i, known := at[keyOf(f)]
		if !known {
			at[keyOf(f)] = len(out)
			f.Evidence = append([]string{}, f.Evidence...)
			out = append(out, f)
			continue
		}
		out[i].Evidence = append(out[i].Evidence, f.Evidence...)
		if f.Since.Before(out[i].Since) {
			out[i].Since = f.Since
		}
	}
	return out
}

// columns splits the keys into arrays for unnest.
func columns(found []lifecycle.Finding) (kinds, clusters, identities []string) {
	for _, f := range found {
		kinds, clusters, identities = append(kinds, string(f.Kind)), append(clusters, f.Cluster), append(identities, f.Identity)
	}
	return kinds, clusters, identities
}

func (c *change) resolveFindings(ctx context.Context, judged []lifecycle.FindingKind, found []lifecycle.Finding) error {
	kinds, clusters, identities := columns(found)
	_, err := c.Exec(ctx, `
		UPDATE findings f SET resolved_at = @now WHERE resolved_at IS NULL AND kind = ANY (@judged) AND NOT EXISTS (
			SELECT 1 FROM unnest(@kinds::text[], @clusters::text[], @identities::text[]) AS n (kind, cluster, identity)
			WHERE n.kind = f.kind AND n.cluster = coalesce(f.cluster_id, '') AND n.identity = f.identity)`,
		pgx.NamedArgs{"now": c.now, "judged": judged, "kinds": kinds, "clusters": clusters, "identities": identities})
	if err != nil {
		return fmt.Errorf("resolve findings: %w", err)
	}
	return nil
}

// keepFindings writes each finding. A resolved one that comes back starts anew but keeps its first_seen_at.
func (c *change) keepFindings(ctx context.Context, found []lifecycle.Finding) (fresh []lifecycle.Finding, err error) {
	batch := &pgx.Batch{}
	for _, f := range found {
		batch.Queue(`
			INSERT INTO findings AS f (kind, cluster_id, identity, since, why, evidence, first_seen_at, last_seen_at)
			VALUES ($1, nullif($2, ''), $3, $4, $5, $6, $7, $7)
			ON CONFLICT (kind, cluster_id, identity) DO UPDATE SET
				since = excluded.since, why = excluded.why, evidence = excluded.evidence, last_seen_at = excluded.last_seen_at,
				times_seen = CASE WHEN f.resolved_at IS NULL THEN f.times_seen + 1 ELSE 1 END, resolved_at = NULL
			RETURNING times_seen`, f.Kind, f.Cluster, f.Identity, f.Since, f.Why, f.Evidence, c.now)
	}
	results := c.SendBatch(ctx, batch)
	defer results.Close() //nolint:errcheck // an error of its own was returned by the row before
	for _, f := range found {
		var times int
		if err := results.QueryRow().Scan(&times); err != nil {
			return nil, fmt.Errorf("keep the %s finding of %s%s: %w", f.Kind, f.Cluster, f.Identity, err)
		}
		if times == 1 {
			fresh = append(fresh, f)
		}
	}
	return fresh, nil
}

// FindingFilter selects findings; empty fields do not filter.
type FindingFilter struct {
	Kind     lifecycle.FindingKind
	Cluster  string
	Teams    []string // only those of these teams' clusters; nil: all, also those without a known cluster
	Resolved bool     // include resolved findings
	Newest   bool     // the newest first; else the oldest
}

// mostFindings bounds one query.
const mostFindings = 1000

// Findings returns the selected findings, at most 1000.
func (s *Store) Findings(ctx context.Context, f FindingFilter) ([]FindingRow, error) {
	w := conditions{args: pgx.NamedArgs{"limit": mostFindings}}
	w.add(!f.Resolved, "resolved_at IS NULL", "", nil)
	w.add(f.Kind != "", "kind = @kind", "kind", f.Kind)
	w.add(f.Cluster != "", "cluster_id = @cluster", "cluster", f.Cluster)
	w.add(f.Teams != nil, "cluster_id IN (SELECT id FROM clusters WHERE team = ANY (@teams))", "teams", f.Teams)
	order := "first_seen_at, id"
	if f.Newest {
		order = "first_seen_at DESC, id DESC"
	}
	open, err := all[FindingRow](ctx, s.pool, `
		SELECT kind, coalesce(cluster_id, '') AS cluster, identity, since, why, evidence, first_seen_at, last_seen_at, times_seen, resolved_at
		FROM findings `+w.where()+` ORDER BY `+order+` LIMIT @limit`, w.args)
	if err != nil {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	return open, nil
}

// tellBlocked updates the finding of a blocked teardown with the cluster's next row: each try renews it, and the end of the
// cluster resolves it. The sweep would do the same minutes later.
func (c *change) tellBlocked(ctx context.Context, cur, next lifecycle.Cluster) error {
	if f, blocked := (lifecycle.KnownCluster{Cluster: next, MovedAt: c.now}).BlockedTeardown(); blocked {
		_, err := c.keepFindings(ctx, []lifecycle.Finding{f})
		return err
	}
	if _, was := (lifecycle.KnownCluster{Cluster: cur}).BlockedTeardown(); !was {
		return nil
	}
	_, err := c.Exec(ctx, `UPDATE findings SET resolved_at = $3 WHERE cluster_id = $1 AND kind = $2 AND resolved_at IS NULL`, cur.ID, lifecycle.Blocked, c.now)
	if err != nil {
		return fmt.Errorf("resolve the finding of %s: %w", cur.ID, err)
	}
	return nil
}
