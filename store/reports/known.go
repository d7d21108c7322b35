package reports

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Known returns what a look judges, from one snapshot: the live clusters that may not be as they should be, and those that seen
// names by id, by a recorded name or by a domain, live or released. A ready cluster whose next look and end are still to come is left out: it is
// as it should be, and there may be very many. Only the columns that lifecycle.Judge needs are read, and only the recorded names
// that were seen.
func (s *Store) Known(ctx context.Context, seen lifecycle.Seen) (lifecycle.Known, error) {
	k := lifecycle.Known{Installation: s.db.Options.Installation}
	tx, err := s.db.Pool().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return k, fmt.Errorf("read what is known: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	if err := tx.QueryRow(ctx, `SELECT coalesce($1::timestamptz, clock_timestamp())`, s.db.Fixed()).Scan(&k.Now); err != nil {
		return k, fmt.Errorf("ask the clock: %w", err)
	}
	names, ids, domains := namesIn(seen)
	owned, err := ownersOf(ctx, tx, names)
	if err != nil {
		return k, fmt.Errorf("read whose names were seen: %w", err)
	}
	if k.Clusters, err = listKnown(ctx, tx, k.Now, slices.AppendSeq(ids, maps.Keys(owned)), domains); err != nil {
		return k, fmt.Errorf("read what is known: %w", err)
	}
	for i := range k.Clusters {
		k.Clusters[i].Identities = owned[k.Clusters[i].ID]
	}
	return k, nil
}

// namesIn returns the names, the cluster ids and the domains that resources were seen under.
func namesIn(seen lifecycle.Seen) (names, ids, domains []string) {
	for _, g := range seen.Groups {
		if g.Identity != "" {
			names = append(names, strings.Split(g.Identity, ",")...)
		}
		if g.Cluster != "" {
			ids = append(ids, g.Cluster)
		}
		if g.Domain != "" {
			domains = append(domains, g.Domain)
		}
	}
	return names, ids, domains
}

// ownersOf returns the names that each cluster recorded, out of the given ones.
func ownersOf(ctx context.Context, tx pgx.Tx, names []string) (map[string][]string, error) {
	owned := map[string][]string{}
	if len(names) == 0 {
		return owned, nil
	}
	rows, err := tx.Query(ctx, `
		SELECT cluster_id, infra_id FROM attempts WHERE infra_id = ANY ($1)
		UNION SELECT cluster_id, cco_name FROM attempts WHERE cco_name = ANY ($1) ORDER BY 1, 2`, names)
	if err != nil {
		return nil, err
	}
	var cluster, name string
	_, err = pgx.ForEachRow(rows, []any{&cluster, &name}, func() error {
		owned[cluster] = append(owned[cluster], name)
		return nil
	})
	return owned, err
}

// listKnown reads each part by its own index, and does not touch the many others.
func listKnown(ctx context.Context, tx pgx.Tx, now time.Time, named, domains []string) ([]lifecycle.KnownCluster, error) {
	sql, args := `
		SELECT `+knownColumns+` FROM clusters WHERE destroyed_at IS NULL AND status IN ('PENDING', 'CREATING', 'FAILED', 'DESTROYING')
		UNION SELECT `+knownColumns+` FROM clusters
			WHERE destroyed_at IS NULL AND status = 'READY' AND least(coalesce(wake_at, '-infinity'::timestamptz), destroy_at) <= $2
		UNION SELECT `+knownColumns+` FROM clusters WHERE id = ANY ($1)`, []any{named, now}
	if len(domains) > 0 {
		sql += ` UNION SELECT ` + knownColumns + ` FROM clusters WHERE name || '.' || base_domain = ANY ($3)`
		args = append(args, domains)
	}
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanKnown)
}

// knownColumns are the columns that scanKnown reads, in its order.
const knownColumns = `id, name, status, phase, desired, why, blockers, wake_at, destroyed_at, updated_at,
	end_ttl, end_max, end_pr_closed, pr_end_why, end_label_removed, end_run_finished, run_end_why, end_claim, end_idle, end_hold, end_drain, drain_why,
	name || '.' || base_domain, owner, team, coalesce(effective_tags ->> 'InstallationId', ''), nullif(work, '{}')`

func scanKnown(row pgx.CollectableRow) (lifecycle.KnownCluster, error) {
	var k lifecycle.KnownCluster
	var wake, released, closed, unlabelled, finished, claim, idle, hold, drain *time.Time
	err := row.Scan(&k.ID, &k.Name, &k.Status, &k.Phase, &k.Desired, &k.Why, &k.Blockers, &wake, &released, &k.MovedAt,
		&k.Ends.TTL, &k.Ends.Max, &closed, &k.Ends.PRWhy, &unlabelled, &finished, &k.Ends.RunWhy, &claim, &idle, &hold, &drain, &k.Ends.DrainWhy,
		&k.Domain, &k.Owner, &k.Team, &k.Installation, &k.Work)
	k.WakeAt, k.ReleasedAt = db.Zero(wake), db.Zero(released)
	k.Ends.PRClosed, k.Ends.LabelRemoved, k.Ends.RunFinished, k.Ends.Claim = db.Zero(closed), db.Zero(unlabelled), db.Zero(finished), db.Zero(claim)
	k.Ends.Idle, k.Ends.Hold, k.Ends.Drain = db.Zero(idle), db.Zero(hold), db.Zero(drain)
	return k, err
}

// ClosedFor returns which of the attempts and scans have been closed for at least that long. Unknown ids are left out.
func (s *Store) ClosedFor(ctx context.Context, attempts []string, long time.Duration) ([]string, error) {
	var closed []string
	err := s.db.Pool().QueryRow(ctx, `
		SELECT coalesce(array_agg(id ORDER BY id), '{}') FROM (SELECT id, closed_at FROM attempts UNION ALL SELECT id, closed_at FROM scans UNION ALL SELECT id, closed_at FROM proofs) AS runners
		WHERE id = ANY ($1) AND closed_at <= coalesce($2::timestamptz, clock_timestamp()) - $3::interval`,
		attempts, s.db.Fixed(), long).Scan(&closed)
	if err != nil {
		return nil, fmt.Errorf("look for closed attempts: %w", err)
	}
	return closed, nil
}
