package pools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes pools. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }

// Settings are what admins said of a pool since its catalogue was written. The zero value says nothing.
type Settings struct {
	Name             string
	Paused, Draining bool
	Size             *int   // nil: the catalogue's
	ChangedBy        string // as people know them; empty: nobody
	ChangedAt        *time.Time
}

// Settings returns what admins said of every pool, by name.
func (s *Store) Settings(ctx context.Context) (map[string]Settings, error) {
	list, err := db.All[Settings](ctx, s.db.Pool(), `SELECT name, paused, draining, size, changed_by, changed_at FROM pools`)
	if err != nil {
		return nil, fmt.Errorf("read what admins said of pools: %w", err)
	}
	by := make(map[string]Settings, len(list))
	for _, one := range list {
		by[one.Name] = one
	}
	return by, nil
}

// Change changes the settings of a pool, with a line in the audit trail.
func (s *Store) Change(ctx context.Context, name string, d clusters.Origin, change func(*Settings)) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		if err := c.TakeLocks(ctx, []string{"pool " + name}); err != nil {
			return err
		}
		found, err := db.All[Settings](ctx, c, `SELECT name, paused, draining, size, changed_by, changed_at FROM pools WHERE name = $1`, name)
		if err != nil {
			return err
		}
		was := Settings{Name: name}
		for _, one := range found {
			was = one
		}
		next := was
		change(&next)
		_, err = c.Exec(ctx, `
			INSERT INTO pools (name, paused, draining, size, changed_by, changed_at) VALUES (@name, @paused, @draining, @size, @by, @now)
			ON CONFLICT (name) DO UPDATE SET paused = excluded.paused, draining = excluded.draining, size = excluded.size,
				changed_by = excluded.changed_by, changed_at = excluded.changed_at`,
			pgx.NamedArgs{"name": name, "paused": next.Paused, "draining": next.Draining, "size": next.Size, "by": d.DisplayName(), "now": c.Now})
		if err != nil {
			return err
		}
		return clusters.RecordAction(c, d, "pool_changed", "", clusters.Action{Before: was, After: next, Note: name})
	})
	if err != nil {
		return fmt.Errorf("change the pool %s: %w", name, err)
	}
	return nil
}

// Cluster is a cluster of a pool that is not proven destroyed.
type Cluster struct {
	ID, Name, Pool string
	Version        int64
	Status         lifecycle.Status
	Phase          lifecycle.Phase
	Pooled         bool // nobody has claimed it
	Wanted         bool
	SleepWanted    bool
	Power          lifecycle.Power
	Begun          bool // an attempt recorded names: something may exist in the cloud
	Healthy        bool
	Digest         string
	Account        string // the catalogue's name of its cloud account
	AcceptedAt     time.Time
	ReadyAt        *time.Time
	ClaimedAt      *time.Time
	Owner, Team    string
}

// Clusters returns the clusters of all pools, those of one pool from the oldest on.
func (s *Store) Clusters(ctx context.Context) (map[string][]Cluster, error) {
	list, err := db.All[Cluster](ctx, s.db.Pool(), `
		SELECT c.id, c.name, c.pool, c.row_version AS version, c.status, c.phase, c.pooled, c.desired = 'present' AS wanted, c.sleep_wanted, c.power,
			EXISTS (SELECT FROM attempts a WHERE a.cluster_id = c.id AND a.recorded_at IS NOT NULL) AS begun, c.degraded = '' AS healthy,
			c.pool_digest AS digest, c.account, c.created_at AS accepted_at, c.ready_at, c.claimed_at, c.owner, c.team
		FROM clusters c WHERE c.pool <> '' AND c.destroyed_at IS NULL ORDER BY c.pool, c.id`)
	if err != nil {
		return nil, fmt.Errorf("read the clusters of pools: %w", err)
	}
	by := map[string][]Cluster{}
	for _, one := range list {
		by[one.Pool] = append(by[one.Pool], one)
	}
	return by, nil
}

// Record is how the creates of a pool went lately.
type Record struct {
	Made     int       // clusters ever made for it: no two have the same number
	Failures int       // of the newest ones in a row, those that failed
	FailedAt time.Time // the newest of these
}

// Record returns how the creates of a pool went. Those that ended before anything came of them say nothing.
func (s *Store) Record(ctx context.Context, pool string) (r Record, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		WITH made AS (
			SELECT id, coalesce(ready_at, claimed_at) IS NOT NULL AS went_well, desired_why ->> 'code' = @failed AS failed, updated_at
			FROM clusters WHERE pool = @pool AND pool <> ''
		)
		SELECT count(*), count(*) FILTER (WHERE failed AND id > coalesce((SELECT max(id) FROM made WHERE went_well), '')),
			coalesce(max(updated_at) FILTER (WHERE failed AND id > coalesce((SELECT max(id) FROM made WHERE went_well), '')), '0001-01-01')
		FROM made`, pgx.NamedArgs{"pool": pool, "failed": lifecycle.ReasonInstallFailed}).Scan(&r.Made, &r.Failures, &r.FailedAt)
	if err != nil {
		return Record{}, fmt.Errorf("read how the creates of the pool %s went: %w", pool, err)
	}
	return r, nil
}

// Refused returns policy's verdict on a pool's request with that key, if it was refused; nil: it was not made, or was accepted.
func (s *Store) Refused(ctx context.Context, principal, key string) (verdict json.RawMessage, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT q.verdict FROM request_keys k JOIN cluster_requests q ON q.id = k.request_id WHERE k.principal = $1 AND k.key = $2 AND NOT q.allowed`, principal, key).Scan(&verdict)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("read why %s was refused: %w", principal, err)
	}
	return verdict, nil
}

// Crowded reports whether people's clusters wait for a runner, or for capacity.
func (s *Store) Crowded(ctx context.Context) (crowded bool, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM clusters c WHERE NOT c.pooled AND c.desired = 'present' AND c.destroyed_at IS NULL AND c.phase = 'awaiting_capacity' AND NOT c.needs_turn AND NOT c.why ? 'brake')`).Scan(&crowded)
	if err != nil {
		return false, fmt.Errorf("look whether people wait: %w", err)
	}
	return crowded, nil
}
