package reports

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// RemovalKind says which of a released cluster's objects are to be deleted from the bucket.
type RemovalKind string

// The kinds of removal. Each is done once.
const (
	// RemoveAccess deletes the cluster's credentials, at its end.
	RemoveAccess RemovalKind = "access"
	// RemoveAccessAgain deletes what a runner stored after that: its credentials for the bucket last up to an hour.
	RemoveAccessAgain RemovalKind = "access_again"
	// RemoveState deletes the archives of a teardown, its logs and its verifications, after the retention.
	RemoveState RemovalKind = "state"
)

// againAfter is how long after a cluster's end its credentials are deleted again.
const againAfter = 2 * time.Hour

// Removal is a due deletion of a released cluster's objects.
type Removal struct {
	Cluster  string // id
	Name     string
	Kind     RemovalKind
	Since    time.Time // when it became due
	Tries    int       // failed tries
	Problem  string    // of the last try; empty: none
	Attempts []string  // ids of the cluster's attempts
}

const dueRemovals = `
	SELECT r.cluster_id AS cluster, c.name, r.kind, d.since, r.tries, r.problem,
	       ARRAY(SELECT a.id FROM attempts a WHERE a.cluster_id = r.cluster_id ORDER BY a.number) AS attempts
	  FROM removals r
	  JOIN clusters c ON c.id = r.cluster_id AND c.destroyed_at IS NOT NULL
	  CROSS JOIN LATERAL (SELECT c.destroyed_at +
	       CASE r.kind WHEN 'access' THEN interval '0' WHEN 'access_again' THEN @again::interval ELSE @retention::interval END AS since) d
	 WHERE r.done_at IS NULL AND d.since <= coalesce(@now::timestamptz, clock_timestamp())`

// DueRemovals returns the deletions that are due now, those with the fewest failures first, at most limit. Only released
// clusters are among them. retention is how long a cluster's state is kept after its end.
func (s *Store) DueRemovals(ctx context.Context, retention time.Duration, limit int) ([]Removal, error) {
	due, err := db.All[Removal](ctx, s.db.Pool(), dueRemovals+` ORDER BY r.tries, d.since LIMIT @limit`, s.removalArgs(retention, limit))
	if err != nil {
		return nil, fmt.Errorf("list what is to be deleted: %w", err)
	}
	return due, nil
}

// FailedRemovals returns the deletions that have been due for at least late and have failed, the oldest first.
func (s *Store) FailedRemovals(ctx context.Context, retention, late time.Duration, limit int) ([]Removal, error) {
	args := s.removalArgs(retention, limit)
	args["late"] = late
	failed, err := db.All[Removal](ctx, s.db.Pool(), dueRemovals+`
		AND r.tries > 0 AND d.since <= coalesce(@now::timestamptz, clock_timestamp()) - @late::interval ORDER BY d.since LIMIT @limit`, args)
	if err != nil {
		return nil, fmt.Errorf("list what could not be deleted: %w", err)
	}
	return failed, nil
}

func (s *Store) removalArgs(retention time.Duration, limit int) pgx.NamedArgs {
	return pgx.NamedArgs{"again": againAfter, "retention": retention, "now": s.db.Fixed(), "limit": limit}
}

// IsDue reports whether a removal that DueRemovals returned is still due: a leak may have reopened its cluster since, whose teardown needs the objects.
// Its lock ends with the query. A cluster can be reopened right after it; asking just before the deletion makes that unlikely.
func (s *Store) IsDue(ctx context.Context, r Removal, retention time.Duration) (due bool, err error) {
	args := s.removalArgs(retention, 1)
	args["cluster"], args["kind"] = r.Cluster, r.Kind
	found, err := db.All[Removal](ctx, s.db.Pool(), dueRemovals+` AND r.cluster_id = @cluster AND r.kind = @kind FOR NO KEY UPDATE OF c`, args)
	if err != nil {
		return false, fmt.Errorf("look whether a removal of %s is still due: %w", r.Cluster, err)
	}
	return len(found) > 0, nil
}

// Removed records that a removal was done, with an audit line that says how many objects it deleted. It also removes the rows
// that refer to these objects. Of a cluster that was reopened meanwhile it records nothing: the next release plans the removal anew.
func (s *Store) Removed(ctx context.Context, r Removal, objects int) error {
	return s.db.Write(ctx, func(c *db.Tx) error {
		tag, err := c.Exec(ctx, `
			WITH c AS (SELECT id FROM clusters WHERE id = $1 AND destroyed_at IS NOT NULL FOR NO KEY UPDATE)
			UPDATE removals SET done_at = $3, objects = objects + $4, problem = '' FROM c WHERE cluster_id = c.id AND kind = $2 AND done_at IS NULL`,
			r.Cluster, r.Kind, c.Now, objects)
		if err != nil {
			return fmt.Errorf("record what was deleted of %s: %w", r.Cluster, err)
		}
		if tag.RowsAffected() == 0 {
			return nil // another process did it at the same time, or the cluster was reopened
		}
		if err := forgetObjects(ctx, c, r); err != nil {
			return fmt.Errorf("forget what was deleted of %s: %w", r.Cluster, err)
		}
		if r.Kind == RemoveAccessAgain && objects == 0 {
			return nil // expected: nothing was stored late
		}
		what := "what opens the cluster was deleted from the bucket"
		if r.Kind == RemoveState {
			what = "archives, logs and counts were deleted after the retention"
		}
		return c.Record(ctx, db.Lifecycle, string(r.Kind)+".removed", r.Cluster, map[string]any{
			"objects": objects, "why": fmt.Sprintf("%s: %d objects, every version counted", what, objects),
		})
	})
}

// forgetObjects removes the rows and references of deleted objects.
func forgetObjects(ctx context.Context, c *db.Tx, r Removal) error {
	statements := []string{
		`UPDATE cluster_outputs SET kubeconfig_s3_uri = '', kubeadmin_secret_ref = '' WHERE cluster_id = $1`,
		`DELETE FROM artifacts WHERE cluster_id = $1 AND s3_key LIKE 'operate/%' AND artifact_type <> 'LOG'`,
	}
	if r.Kind == RemoveState {
		statements = []string{
			`UPDATE cluster_outputs SET metadata_s3_uri = '' WHERE cluster_id = $1`,
			`DELETE FROM artifacts WHERE cluster_id = $1`,
			`DELETE FROM verifications WHERE attempt_id IN (SELECT id FROM attempts WHERE cluster_id = $1)`,
		}
	}
	for _, statement := range statements {
		if _, err := c.Exec(ctx, statement, r.Cluster); err != nil {
			return err
		}
	}
	return nil
}

// RemovalFailed records why a removal failed and how many objects it deleted nevertheless. It stays due.
func (s *Store) RemovalFailed(ctx context.Context, r Removal, objects int, problem string) error {
	_, err := s.db.Pool().Exec(ctx, `
		UPDATE removals SET tries = tries + 1, problem = $3, objects = objects + $4 WHERE cluster_id = $1 AND kind = $2 AND done_at IS NULL`,
		r.Cluster, r.Kind, strings.ToValidUTF8(problem[:min(len(problem), 1000)], ""), objects)
	if err != nil {
		return fmt.Errorf("record why nothing was deleted of %s: %w", r.Cluster, err)
	}
	return nil
}
