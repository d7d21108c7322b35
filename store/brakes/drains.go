package brakes

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Drain ends what lives where a freeze applies.
type Drain struct {
	In time.Duration // so long after the freeze began; zero: after the longest grace of what lives there
}

// ShortFreezeError refuses a freeze that would be over before what lives there has had its grace.
type ShortFreezeError struct{ Grace time.Duration }

func (e *ShortFreezeError) Error() string {
	return fmt.Sprintf("clusters that live there have a grace of %s", e.Grace)
}

// Lock is the name of the lock under which drains and the ends of drained clusters change: freezes, thaws and transfers take it alone, claims together. It
// is taken before the locks of quotas.
const Lock = "drains"

// Covers is the SQL condition that a place applies to a cluster. Both are prefixes of columns, or of arguments; team is the cluster's.
func Covers(place, cluster, team string) string {
	return fmt.Sprintf(`%[1]splatform IN ('', %[2]splatform) AND %[1]saccount IN ('', coalesce(%[2]sspec ->> 'account', '')) AND %[1]sregion IN ('', %[2]sregion)
		AND %[1]sprofile IN ('', %[2]sprofile) AND %[1]steam IN ('', %[3]s)`, place, cluster, team)
}

const (
	// living is what a drain ends. What waits to be created goes on waiting.
	living = `clusters.destroyed_at IS NULL AND clusters.desired = 'present' AND (clusters.status = 'READY'
		OR EXISTS (SELECT FROM attempts a WHERE a.cluster_id = clusters.id AND a.closed_at IS NULL AND a.kind = 'create'))`
	// grace is a cluster's, as after its pull request was closed.
	grace = `coalesce((clusters.spec ->> 'grace')::bigint, 0)`
)

// The end of a cluster where several admins drain is the earliest. One that comes there later has its grace, unless its people know of an earlier
// end already; if that is longer than the freeze, it stays.
var (
	drains = ` FROM freezes f, LATERAL (SELECT CASE clusters.drain_why ->> 'name' WHEN f.id THEN clusters.end_drain ELSE
			greatest(f.drain_at, CASE f.id WHEN @fresh THEN f.drain_at ELSE coalesce(clusters.end_drain, @now::timestamptz + ` + grace + ` / 1000 * interval '1 microsecond') END) END AS at) e
		WHERE f.thawed_at IS NULL AND f.until > @now AND f.id <> ALL (@ended) AND e.at <= f.until AND ` + living + ` AND ` + Covers("f.", "clusters.", "clusters.team") + `
		ORDER BY e.at, f.id LIMIT 1)`
	drainAt  = `(SELECT e.at` + drains
	drainWhy = `coalesce((SELECT jsonb_strip_nulls(jsonb_build_object('code', '` + string(lifecycle.ReasonDrain) + `', 'by', f.frozen_by, 'words', f.words, 'name', f.id, 'where',
		jsonb_build_object('platform', nullif(f.platform, ''), 'account', nullif(f.account, ''), 'region', nullif(f.region, ''), 'profile', nullif(f.profile, ''),
			'team', nullif(f.team, ''))))` + drains + `, '{}')`
)

// longestGrace is how long what lives at a place has to have before it is drained.
func longestGrace(ctx context.Context, c *db.Tx, where lifecycle.Place) (time.Duration, error) {
	var most time.Duration
	err := c.QueryRow(ctx, `SELECT coalesce(max(`+grace+`), 0) FROM clusters WHERE `+living+` AND `+Covers("@", "clusters.", "clusters.team"), placeArgs(where)).Scan(&most)
	if err != nil {
		return 0, fmt.Errorf("read the grace of what lives there: %w", err)
	}
	return most, nil
}

// drainPlace sets the end of what lives where a new freeze applies.
func drainPlace(ctx context.Context, c *db.Tx, b lifecycle.Brake, d clusters.Origin) error {
	ids, err := lockWhere(ctx, c, living+` AND `+Covers("@", "clusters.", "clusters.team"), placeArgs(b.Where))
	if err != nil {
		return err
	}
	return refreshDrains(ctx, c, ids, b.ID, []string{}, d)
}

// liftDrains takes away the ends that freezes set and that have not come yet. Where another one drains too, its end counts.
func liftDrains(ctx context.Context, c *db.Tx, ended []string, d clusters.Origin) error {
	ids, err := lockWhere(ctx, c, `drain_why ->> 'name' = ANY (@ended) AND desired = 'present' AND end_drain > @now`, pgx.NamedArgs{"ended": ended, "now": c.Now})
	if err != nil {
		return err
	}
	return refreshDrains(ctx, c, ids, "", ended, d)
}

// Undrain takes away the ends that drains set, also those that have come.
func (s *Store) Undrain(ctx context.Context, ids []string, d clusters.Origin) error {
	return s.db.Write(ctx, func(c *db.Tx) error {
		set, undrained := `end_drain = NULL, drain_why = '{}'`, `desired = 'present' AND end_drain IS NOT NULL`
		return changeDrains(ctx, c, ids, set, undrained, pgx.NamedArgs{}, d)
	})
}

// lockWhere locks clusters, each transaction in the same order.
func lockWhere(ctx context.Context, c *db.Tx, condition string, args pgx.NamedArgs) (ids []string, err error) {
	rows, err := db.All[struct{ ID string }](ctx, c, `SELECT id FROM clusters WHERE `+condition+` ORDER BY id FOR NO KEY UPDATE`, args)
	if err != nil {
		return nil, fmt.Errorf("read what is drained: %w", err)
	}
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids, nil
}

// RefreshDrains gives locked clusters, which live elsewhere or for another team now, the end that is due there, or none.
func RefreshDrains(ctx context.Context, c *db.Tx, ids []string, d clusters.Origin) error {
	return refreshDrains(ctx, c, ids, "", []string{}, d)
}

// refreshDrains does so for a freeze that has just begun, and without those that have just ended.
func refreshDrains(ctx context.Context, c *db.Tx, ids []string, fresh string, ended []string, d clusters.Origin) error {
	return changeDrains(ctx, c, ids, `end_drain = `+drainAt+`, drain_why = `+drainWhy,
		`(end_drain, drain_why) IS DISTINCT FROM (`+drainAt+`, `+drainWhy+`)`, pgx.NamedArgs{"fresh": fresh, "ended": ended}, d)
}

// changeDrains changes the ends of those of the clusters for which a condition holds, and writes that to the audit trail.
func changeDrains(ctx context.Context, c *db.Tx, ids []string, set, where string, args pgx.NamedArgs, d clusters.Origin) error {
	if len(ids) == 0 {
		return nil
	}
	changed, err := clusters.SetDesiredOfMany(ctx, c, ids, set, where, args)
	if err != nil || len(changed) == 0 {
		return err
	}
	rows, err := db.All[struct {
		ID  string
		At  *time.Time
		Why lifecycle.Reason
	}](ctx, c, `SELECT id, end_drain AS at, drain_why AS why FROM clusters WHERE id = ANY ($1) ORDER BY id`, changed)
	if err != nil {
		return fmt.Errorf("read the new ends: %w", err)
	}
	for _, row := range rows {
		move, action := db.Move{End: "drain", At: row.At, Why: row.Why.String()}, "end_set"
		if row.At == nil {
			move.Why, action = d.Reason(), "end_lifted"
		}
		if err := c.Record(ctx, d.Actor, action, row.ID, move); err != nil {
			return err
		}
	}
	return nil
}

func placeArgs(where lifecycle.Place) pgx.NamedArgs {
	return pgx.NamedArgs{"platform": where.Platform, "account": where.Account, "region": where.Region, "profile": where.Profile, "team": where.Team}
}
