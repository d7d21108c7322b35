package store

import (
	"context"
	"fmt"
)

// Answered reports whether a cause was answered: then everything it asked for was done, and must not be done again.
func (s *Store) Answered(ctx context.Context, cause string) (done bool, err error) {
	if err := s.pool.QueryRow(ctx, answered, cause).Scan(&done); err != nil {
		return false, fmt.Errorf("look for the answer to %s: %w", cause, err)
	}
	return done, nil
}

const answered = `SELECT EXISTS (SELECT 1 FROM replies WHERE cause = $1)`
