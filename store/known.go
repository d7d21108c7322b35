package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Known returns what a sweep judges, all of one moment: every cluster that lives, and those released no longer than recent
// ago. Of a row it holds what lifecycle.Sweep reads and no more: ten thousand of them are read at once.
func (s *Store) Known(ctx context.Context, recent time.Duration) (lifecycle.Known, error) {
	k := lifecycle.Known{Installation: s.options.Installation}
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return k, fmt.Errorf("read what is known: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // it only read
	if err := tx.QueryRow(ctx, `SELECT coalesce($1::timestamptz, clock_timestamp())`, s.fixed()).Scan(&k.Now); err != nil {
		return k, fmt.Errorf("ask the clock: %w", err)
	}
	if k.Clusters, err = knownIn(ctx, tx, k.Now.Add(-recent)); err != nil {
		return k, fmt.Errorf("read what is known: %w", err)
	}
	return k, nil
}

// knownIn reads the live clusters by one index and the newly released by another; the many old ones are not touched.
func knownIn(ctx context.Context, tx pgx.Tx, since time.Time) ([]lifecycle.KnownCluster, error) {
	rows, err := tx.Query(ctx, `
		WITH k AS (
			SELECT * FROM clusters WHERE destroyed_at IS NULL UNION ALL SELECT * FROM clusters WHERE destroyed_at >= $1
		), names AS (
			SELECT a.cluster_id, array_agg(n.name ORDER BY a.number, n.i) AS identities
			FROM attempts a JOIN k ON k.id = a.cluster_id, LATERAL (VALUES (1, a.infra_id), (2, a.cco_name)) AS n (i, name)
			WHERE a.recorded_at IS NOT NULL AND n.name IS NOT NULL GROUP BY a.cluster_id
		)
		SELECT k.id, k.name, k.status, k.phase, k.wish, k.why, k.blockers, k.wake_at, k.destroyed_at, k.updated_at,
			k.end_ttl, k.end_max, k.end_pr_closed, k.end_label_removed, k.end_run_finished, k.end_claim, names.identities
		FROM k LEFT JOIN names ON names.cluster_id = k.id`, since)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanKnown)
}

func scanKnown(row pgx.CollectableRow) (lifecycle.KnownCluster, error) {
	var k lifecycle.KnownCluster
	var wake, released, closed, unlabelled, finished, claim *time.Time
	err := row.Scan(&k.ID, &k.Name, &k.Status, &k.Phase, &k.Wish, &k.Why, &k.Blockers, &wake, &released, &k.MovedAt,
		&k.Ends.TTL, &k.Ends.Max, &closed, &unlabelled, &finished, &claim, &k.Identities)
	k.WakeAt, k.ReleasedAt = zero(wake), zero(released)
	k.Ends.PRClosed, k.Ends.LabelRemoved, k.Ends.RunFinished, k.Ends.Claim = zero(closed), zero(unlabelled), zero(finished), zero(claim)
	return k, err
}

// ClosedFor returns which of the attempts have been closed for at least that long. Ids that are none of ours are left out.
func (s *Store) ClosedFor(ctx context.Context, attempts []string, long time.Duration) ([]string, error) {
	var closed []string
	err := s.pool.QueryRow(ctx, `
		SELECT coalesce(array_agg(id ORDER BY id), '{}') FROM attempts
		WHERE id = ANY ($1) AND closed_at <= coalesce($2::timestamptz, clock_timestamp()) - $3::interval`,
		attempts, s.fixed(), long).Scan(&closed)
	if err != nil {
		return nil, fmt.Errorf("look for closed attempts: %w", err)
	}
	return closed, nil
}
