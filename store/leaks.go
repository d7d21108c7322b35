package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Cleanup is the actor of what follows from an approved removal of an orphan.
const Cleanup = "cleanup"

// ReasonFound is the reason of an attempt that nothing but the cloud tells of.
const ReasonFound = usage.ReasonFound

// FoundInCloud says of an attempt that nothing but the cloud tells of it.
const FoundInCloud = "a scan found it in the cloud; nothing recorded it"

// RemovalOrder hands an approved orphan to the cluster whose teardown removes it.
type RemovalOrder struct {
	Orphan  string
	Cluster string
	Class   lifecycle.OrphanClass  // as it was when the removal was planned
	Names   []attempts.IdentityRow // that the cluster did not record, to be added
}

// BeginRemoval hands an approved orphan to its cluster in one transaction: its names are added to those that the cluster's teardowns search for
// and count, and the cluster is reconciled. Nothing is written outside. Whether a released cluster's teardown is opened again is
// lifecycle.Decide's answer. ErrConflict: the orphan is no longer approved, or the cluster is no longer as it was planned.
func (s *Store) BeginRemoval(ctx context.Context, r RemovalOrder) error {
	err := s.Write(ctx, func(c *db.Tx) error {
		cur, err := clusters.Lock(ctx, c, r.Cluster)
		if err != nil {
			return err
		}
		released := !cur.ReleasedAt.IsZero()
		if r.Class != lifecycle.ClassUnrecorded && (r.Class != lifecycle.ClassReleased || !released) {
			return fmt.Errorf("%w: cluster %s is %s", db.ErrConflict, cur.ID, cur.Status)
		}
		to := lifecycle.OrphanApproved // until the teardown is opened again
		if !released {
			to = lifecycle.OrphanRemoving
		}
		tag, err := c.Exec(ctx, `
			UPDATE orphans SET cleanup_cluster = @cluster, state = @to, state_at = CASE WHEN state = @to THEN state_at ELSE @now END,
				state_why = CASE WHEN state = @to THEN state_why ELSE 'its cluster knows it now, and its teardown removes it' END
			WHERE id = @id AND state = @approved AND class = @class AND cluster_id = @cluster AND gone_at IS NULL`,
			pgx.NamedArgs{"id": r.Orphan, "cluster": r.Cluster, "class": r.Class, "approved": lifecycle.OrphanApproved, "to": to, "now": c.Now})
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return fmt.Errorf("%w: its removal is no longer approved, or it changed", db.ErrConflict)
		}
		for _, name := range r.Names {
			if err := addName(ctx, c, cur, name); err != nil {
				return err
			}
		}
		return clusters.RequestReconcile(ctx, c, r.Cluster)
	})
	if err != nil {
		return fmt.Errorf("begin the removal of orphan %s: %w", r.Orphan, db.Plain(err))
	}
	return nil
}

// addName adds a name to those of a cluster, as a closed attempt: its teardowns search for it and count it. Nothing else changes, so the
// outcome of the attempt is accounted for. It never happens beside an open attempt, whose outcome would be overlooked.
func addName(ctx context.Context, c *db.Tx, cur usage.Held, name attempts.IdentityRow) error {
	var number int
	var open, known bool
	err := c.QueryRow(ctx, `
		SELECT coalesce(max(number), 0) + 1, coalesce(bool_or(closed_at IS NULL), false),
			coalesce(bool_or(infra_id = nullif($2, '') OR cco_name = nullif($3, '')), false) FROM attempts WHERE cluster_id = $1`,
		cur.ID, name.InfraID, name.CCOName).Scan(&number, &open, &known)
	switch {
	case err != nil:
		return err
	case known: // by an earlier try
		return nil
	case open:
		return fmt.Errorf("%w: an attempt of cluster %s is open", db.ErrConflict, cur.ID)
	}
	_, err = insertRecovered(ctx, c, cur.ID, RecoveredAttempt{
		Number: number, Kind: lifecycle.Create, OpenedAt: c.Now, Identity: name, By: Cleanup, Reason: ReasonFound, Message: FoundInCloud,
	})
	if err != nil {
		return err
	}
	if err := clusters.SetDesired(ctx, c, cur.ID, "seen = greatest(seen, @number)", pgx.NamedArgs{"number": number}); err != nil {
		return err
	}
	return c.RecordLine(Cleanup, "name_added", Cleanup, cur.ID, clusters.Action{
		Move: db.Move{Why: "a scan found it in the cloud; nothing recorded it", Attempt: number}, After: name.InfraID + name.CCOName,
	})
}

// adoptOrphan records that a recovered cluster removes an approved orphan.
func adoptOrphan(ctx context.Context, c *db.Tx, orphan, cluster string) error {
	tag, err := c.Exec(ctx, `
		UPDATE orphans SET state = @removing, state_at = @now, state_why = 'its cluster was adopted and is torn down', cleanup_cluster = @cluster
		WHERE id = @id AND state = @approved AND class = @unknown AND gone_at IS NULL`,
		pgx.NamedArgs{"id": orphan, "cluster": cluster, "now": c.Now, "approved": lifecycle.OrphanApproved, "removing": lifecycle.OrphanRemoving, "unknown": lifecycle.ClassUnknown})
	if err != nil {
		return fmt.Errorf("hand orphan %s over: %w", orphan, err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("%w: the removal of orphan %s is no longer approved, or it changed", db.ErrConflict, orphan)
	}
	return nil
}
