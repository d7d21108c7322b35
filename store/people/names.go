package people

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// RecordName writes down what the sign-in of somebody calls them now. NamesOf returns it for who had it first, unless a person of the catalogue
// is called so.
func (s *Store) RecordName(ctx context.Context, principal, name string) error {
	if _, err := s.db.Pool().Exec(ctx, `
		INSERT INTO sign_in_names AS n (principal, name, since) VALUES (principal_key(@principal), @name, coalesce(@fixed::timestamptz, clock_timestamp()))
		ON CONFLICT (principal) DO UPDATE SET name = excluded.name, since = excluded.since WHERE n.name <> excluded.name`,
		pgx.NamedArgs{"principal": principal, "name": name, "fixed": s.db.Fixed()}); err != nil {
		return fmt.Errorf("write down what %s is called: %w", principal, err)
	}
	return nil
}
