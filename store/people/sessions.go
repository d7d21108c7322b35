package people

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// EndSession records that a session was ended before it expired. Ending it again changes nothing.
func (s *Store) EndSession(ctx context.Context, id, principal string, expires time.Time) error {
	_, err := s.db.Pool().Exec(ctx, `
		INSERT INTO ended_sessions (id, principal, ended_at, expires_at) VALUES ($1, $2, coalesce($4::timestamptz, clock_timestamp()), $3)
		ON CONFLICT (id) DO NOTHING`, id, principal, expires, s.db.Fixed())
	if err != nil {
		return fmt.Errorf("remember that a session was ended: %w", err)
	}
	return nil
}

// SessionEnded reports whether a session was ended before it expired.
func (s *Store) SessionEnded(ctx context.Context, id string) (ended bool, err error) {
	if err := s.db.Pool().QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM ended_sessions WHERE id = $1)`, id).Scan(&ended); err != nil {
		return false, fmt.Errorf("look whether a session was ended: %w", err)
	}
	return ended, nil
}

// EndedSessions returns which of the sessions were ended before they expired.
func (s *Store) EndedSessions(ctx context.Context, ids []string) ([]string, error) {
	rows, _ := s.db.Pool().Query(ctx, `SELECT id FROM ended_sessions WHERE id = ANY ($1)`, ids) // the error is that of the rows
	ended, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look which sessions were ended: %w", err)
	}
	return ended, nil
}
