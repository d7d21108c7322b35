package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// RecoveryView is what a recovery compares with the bucket and the cloud, of every cluster in the database.
type RecoveryView struct {
	Now      time.Time
	Clusters map[string]RecoveryRow // by id
}

// RecoveryRow is one cluster of a RecoveryView.
type RecoveryRow struct {
	ID, Name, Platform, BaseDomain, Region, Installation string
	Status                                               lifecycle.Status
	Desired                                              lifecycle.Desired
	DestroyAt, Max                                       time.Time // its end, and what no extension passes
	Pooled                                               bool      // nobody has claimed it from its pool
	Drained                                              bool      // a drain ends it
	Held                                                 bool      // a recovery set its end, and that is still to come
	Newest                                               int       // number of its newest attempt; 0: none
	Open                                                 int       // number of its open attempt; 0: none
	Identities                                           []string  // infraIDs and ccoctl names
}

// A cluster c is accepted or claimed before its attempts. What a recovery adopts, or whose claim it restores, gets its row after the attempts that
// tell of it: ownedAt is later than begunAt.
const (
	ownedAt = `coalesce(c.claimed_at, (SELECT min(j.created_at) FROM jobs j WHERE j.cluster_id = c.id AND j.job_type = 'CREATE'))`
	begunAt = `min(a.opened_at) FILTER (WHERE c.claimed_at IS NULL OR a.kind = 'prepare')`
)

// RecoveryView reads every cluster, released ones too. keep is how long a recovery keeps what it adopts.
func (s *Store) RecoveryView(ctx context.Context, keep time.Duration) (RecoveryView, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return RecoveryView{}, err
	}
	list, err := db.All[RecoveryRow](ctx, s.Pool(), `
		SELECT c.id, c.name, c.platform, c.base_domain, c.region, coalesce(c.effective_tags ->> 'InstallationId', '') AS installation, c.status, c.desired, c.pooled,
			c.destroy_at, c.end_max AS max, c.end_drain IS NOT NULL AND c.desired = 'present' AS drained,
			coalesce(c.hold_source = @recovery AND c.end_hold > @now, false) OR coalesce(`+ownedAt+` > `+begunAt+` AND `+ownedAt+` > @now - @keep::interval, false) AS held,
			coalesce(max(a.number), 0) AS newest,
			coalesce(max(a.number) FILTER (WHERE a.closed_at IS NULL), 0) AS open,
			array_remove(array_agg(a.infra_id) || array_agg(a.cco_name), NULL) AS identities
		FROM clusters c LEFT JOIN attempts a ON a.cluster_id = c.id GROUP BY c.id`, pgx.NamedArgs{"recovery": Recovery, "now": now, "keep": keep})
	if err != nil {
		return RecoveryView{}, fmt.Errorf("read what the database knows: %w", err)
	}
	view := RecoveryView{Now: now, Clusters: make(map[string]RecoveryRow, len(list))}
	for _, row := range list {
		view.Clusters[row.ID] = row
	}
	return view, nil
}
