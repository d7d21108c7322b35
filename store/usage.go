package store

import (
	"context"
	"fmt"

	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Usage counts the usage of a scope now, without locks, for people to read. Judge counts again under its locks.
func (s *Store) Usage(ctx context.Context, scope usage.Scope) (usage.Usage, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return usage.Usage{}, err
	}
	identities, err := s.IdentitiesOf(ctx, scope.Person)
	if err != nil {
		return usage.Usage{}, err
	}
	return usage.CountAt(ctx, s.Pool(), scope, identities, now)
}

const (
	mostFolded = 20_000 // changes of usage that one pass folds
	mostDead   = 5_000  // of them since the last vacuum: each request reads its team's again until then
)

// FoldUsage folds the changes of what is used into counters, so that a request reads few rows.
func (s *Store) FoldUsage(ctx context.Context) (n int, err error) {
	any := false
	if err := s.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT FROM usage_changes)`).Scan(&any); err != nil || !any {
		return 0, err
	}
	err = s.Write(ctx, func(c *db.Tx) error {
		n, err = usage.Fold(ctx, c, mostFolded)
		return err
	})
	if err != nil || s.dead.Add(int64(n)) < mostDead {
		return n, err
	}
	s.dead.Store(0)
	if _, err := s.Pool().Exec(ctx, `VACUUM (SKIP_LOCKED, INDEX_CLEANUP ON, TRUNCATE OFF) usage_changes`); err != nil {
		return n, fmt.Errorf("vacuum the changes of usage: %w", err)
	}
	return n, nil
}

// CorrectUsage compares what is kept of usage with the clusters, corrects it, and returns what was wrong: nothing, unless somebody changed
// the database by hand or there is a fault.
func (s *Store) CorrectUsage(ctx context.Context) (wrong []string, err error) {
	err = s.Write(ctx, func(c *db.Tx) error {
		wrong, err = usage.Correct(ctx, c)
		return err
	})
	return wrong, err
}

// KeepRecentUsage stores what each team used lately, see usage.KeepRecent.
func (s *Store) KeepRecentUsage(ctx context.Context) error {
	return s.Write(ctx, func(c *db.Tx) error { return usage.KeepRecent(ctx, c) })
}

// IdentitiesOf returns every identity of the person that a principal belongs to, see usage.PersonIdentities.
func (s *Store) IdentitiesOf(ctx context.Context, principal string) ([]string, error) {
	return usage.PersonIdentities(ctx, s.Pool(), principal)
}
