package people

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// View is a list that somebody saved under a name of their own.
type View struct {
	Name  string
	Query string // of the list's address
}

// Views returns what somebody saved, by name.
func (s *Store) Views(ctx context.Context, principal string) ([]View, error) {
	views, err := db.All[View](ctx, s.db.Pool(), `SELECT name, filter AS query FROM saved_views WHERE principal = @principal ORDER BY name`, pgx.NamedArgs{"principal": principal})
	if err != nil {
		return nil, fmt.Errorf("read saved views: %w", err)
	}
	return views, nil
}

// SaveView saves a view, in place of one of the same name. ErrConflict: somebody has as many as they may.
func (s *Store) SaveView(ctx context.Context, principal string, v View, most int) error {
	done, err := s.db.Pool().Exec(ctx, `
		INSERT INTO saved_views (principal, name, filter, saved_at)
		SELECT @principal, @name, @query, coalesce(@fixed::timestamptz, now())
		WHERE (SELECT count(*) FROM saved_views WHERE principal = @principal AND name <> @name) < @most
		ON CONFLICT (principal, name) DO UPDATE SET filter = excluded.filter, saved_at = excluded.saved_at`,
		pgx.NamedArgs{"principal": principal, "name": v.Name, "query": v.Query, "most": most, "fixed": s.db.Fixed()})
	if err != nil {
		return fmt.Errorf("save a view: %w", err)
	}
	if done.RowsAffected() == 0 {
		return fmt.Errorf("%w: there are %d saved views", db.ErrConflict, most)
	}
	return nil
}

// DropView forgets a view; one that does not exist is no error.
func (s *Store) DropView(ctx context.Context, principal, name string) error {
	if _, err := s.db.Pool().Exec(ctx, `DELETE FROM saved_views WHERE principal = @principal AND name = @name`, pgx.NamedArgs{"principal": principal, "name": name}); err != nil {
		return fmt.Errorf("forget a view: %w", err)
	}
	return nil
}
