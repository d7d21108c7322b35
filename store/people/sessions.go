package people

import (
	"context"
	"fmt"
	"time"
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
