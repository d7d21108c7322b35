package scans

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Removal is an orphan with everything that decides whether a teardown can remove it, and how.
type Removal struct {
	Orphan       OrphanRow
	Seen         []SeenRow       // what is there of it
	Beside       []SeenRow       // parts of other orphans of the account that its cluster's teardown finds or counts
	Exempt       []string        // ids of those other orphans that are exempt
	Of           *RemovalCluster // the known cluster that it is or was of; nil: none is known
	Taken        []TakenName     // the orphan's names that another cluster recorded
	Installation string          // of this control plane
	At           time.Time       // when it was read
}

// RemovalCluster is what the database knows of the cluster of an orphan.
type RemovalCluster struct {
	ID, Name, Platform, BaseDomain, Region, Installation string
	Status                                               lifecycle.Status
	Desired                                              lifecycle.Desired
	AcceptedAt                                           time.Time // zero: nothing recorded it
	DestroyedAt                                          *time.Time
	Reopened                                             int      // how often its teardown was opened again
	Newest                                               int      // number of its newest attempt; 0: none
	Open                                                 bool     // an attempt is open
	NameOf                                               string   // id of another cluster that has its name and is not released; empty: the name is free
	Accounts                                             []string // that its attempts recorded, else that of its specification; empty: none is known
	Names                                                []RecordedName
}

// RecordedName is what an attempt recorded before it made anything.
type RecordedName struct{ InfraID, CCOName, Account, Region string }

// TakenName is a name with the cluster that recorded it.
type TakenName struct{ Name, Cluster string }

// Removal reads an orphan with what decides about its removal, from one snapshot. ErrNotFound: there is none of that id.
func (s *Store) Removal(ctx context.Context, id string) (r Removal, err error) {
	tx, err := s.db.Pool().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return r, fmt.Errorf("read orphan %s: %w", id, err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	if r, err = removalIn(ctx, tx, id, s.db.Fixed()); err != nil {
		return r, fmt.Errorf("read orphan %s: %w", id, db.Plain(err))
	}
	r.Installation = s.db.Options.Installation
	return r, nil
}

func removalIn(ctx context.Context, tx pgx.Tx, id string, fixed *time.Time) (r Removal, err error) {
	if err := tx.QueryRow(ctx, `SELECT coalesce($1::timestamptz, clock_timestamp())`, fixed).Scan(&r.At); err != nil {
		return r, err
	}
	if r.Orphan, err = db.One[OrphanRow](ctx, tx, `SELECT `+orphanColumns+` FROM orphans o WHERE o.id = $1`, id); err != nil {
		return r, err
	}
	r.Taken, err = db.All[TakenName](ctx, tx, `
		SELECT n.name, a.cluster_id AS cluster FROM unnest(string_to_array($1, ',')) AS n (name) JOIN attempts a ON a.infra_id = n.name OR a.cco_name = n.name
		WHERE a.cluster_id IS DISTINCT FROM $2 ORDER BY n.name`, r.Orphan.Identity, r.Orphan.ClusterID)
	if err != nil {
		return r, err
	}
	r.Seen, err = db.All[SeenRow](ctx, tx, `
		SELECT `+seenColumns+` FROM seen
		WHERE orphan_id = $1 AND gone_at IS NULL ORDER BY id`, id)
	if err != nil {
		return r, err
	}
	if r.Orphan.ClusterID != nil {
		if r.Of, err = removalClusterIn(ctx, tx, *r.Orphan.ClusterID); err != nil {
			return r, err
		}
	}
	if r.Beside, err = besideIn(ctx, tx, r); err != nil {
		return r, err
	}
	found, _ := tx.Query(ctx, `SELECT id FROM orphans WHERE state = $1 AND id = ANY ($2) ORDER BY id`, lifecycle.OrphanExempt, orphansOf(r.Beside)) // the rows return its error
	r.Exempt, err = pgx.CollectRows(found, pgx.RowTo[string])
	return r, err
}

func orphansOf(parts []SeenRow) (ids []string) {
	for _, part := range parts {
		ids = append(ids, *part.OrphanID)
	}
	return ids
}

// besideIn returns the parts of other orphans that have the cluster's tag, or one of the names which its teardown searches for.
func besideIn(ctx context.Context, tx pgx.Tx, r Removal) ([]SeenRow, error) {
	names, cluster := strings.Split(r.Orphan.Identity, ","), r.Orphan.ClusterTag
	if r.Of != nil {
		cluster = r.Of.ID
		for _, n := range r.Of.Names {
			names = append(names, n.InfraID, n.CCOName)
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
	return db.All[SeenRow](ctx, tx, `
		SELECT `+seenColumns+` FROM seen WHERE gone_at IS NULL AND orphan_id IN (
			SELECT id FROM orphans WHERE (platform, account) = ($1, $2) AND id <> $3 AND gone_at IS NULL
				AND (string_to_array(identity, ',') && $4::text[] OR cluster_tag = nullif($5, '')))
		ORDER BY id COLLATE "C"`, r.Orphan.Platform, r.Orphan.Account, r.Orphan.ID, names, cluster)
}

func removalClusterIn(ctx context.Context, tx pgx.Tx, id string) (*RemovalCluster, error) {
	of, err := db.One[RemovalCluster](ctx, tx, `
		SELECT c.id, c.name, c.platform, c.base_domain, c.region, coalesce(c.effective_tags ->> 'InstallationId', '') AS installation, c.status, c.desired,
			CASE WHEN `+usage.RequestedSQL+` THEN coalesce((c.waited ->> 'created_at')::timestamptz, c.created_at) ELSE '0001-01-01T00:00:00Z' END AS accepted_at, c.destroyed_at,
			c.reopened, coalesce((SELECT max(a.number) FROM attempts a WHERE a.cluster_id = c.id), 0) AS newest,
			EXISTS (SELECT FROM attempts a WHERE a.cluster_id = c.id AND a.closed_at IS NULL) AS open,
			coalesce((SELECT n.id FROM clusters n WHERE (n.platform, n.base_domain, n.name) = (c.platform, c.base_domain, c.name)
				AND n.id <> c.id AND n.destroyed_at IS NULL), '') AS name_of, NULL::jsonb AS names,
			coalesce((SELECT array_agg(DISTINCT a.account ORDER BY a.account) FROM attempts a WHERE a.cluster_id = c.id AND a.account <> ''),
				array_remove(ARRAY[coalesce(c.spec ->> 'account', '')], '')) AS accounts
		FROM clusters c WHERE c.id = $1`, id)
	if err != nil {
		return nil, err
	}
	of.Names, err = db.All[RecordedName](ctx, tx, `
		SELECT coalesce(infra_id, '') AS infra_id, coalesce(cco_name, '') AS cco_name, coalesce(account, '') AS account, coalesce(region, '') AS region
		FROM attempts WHERE cluster_id = $1 AND num_nonnulls(infra_id, cco_name) > 0 ORDER BY number`, of.ID)
	return &of, err
}

// ApprovedRemovals returns the ids of the orphans whose removal was approved and has not begun. Those that were not tried for longest come first
// and count as tried now, so that one that waits holds up no other.
func (s *Store) ApprovedRemovals(ctx context.Context, limit int) ([]string, error) {
	type found struct{ ID string }
	var list []found
	err := s.db.Write(ctx, func(c *db.Tx) (err error) {
		list, err = db.All[found](ctx, c, `
			WITH due AS (SELECT id, row_number() OVER (ORDER BY tried_at NULLS FIRST, state_at, id) AS place FROM orphans
				WHERE gone_at IS NULL AND state = $1 ORDER BY place LIMIT $2),
			tried AS (UPDATE orphans o SET tried_at = $3 FROM due WHERE o.id = due.id)
			SELECT id FROM due ORDER BY place`, lifecycle.OrphanApproved, limit, c.Now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list approved removals: %w", err)
	}
	ids := make([]string, len(list))
	for i, f := range list {
		ids[i] = f.ID
	}
	return ids, nil
}
