package db

import (
	"context"
	"fmt"
	"time"
)

// unlockTimeout is how long an unlock may take before the database session is closed instead.
const unlockTimeout = 5 * time.Second

// Alone runs fn while no process runs another under the same key. Otherwise ran is false and fn is not called. It holds one
// connection of its own; the lock ends with that connection, so a killed process blocks nobody.
func (s *DB) Alone(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, fmt.Errorf("take a connection for %s: %w", key, err)
	}
	defer conn.Release()
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended($1, 0))`, key).Scan(&ran); err != nil {
		return false, fmt.Errorf("lock %s: %w", key, err)
	}
	if !ran {
		return false, nil
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
		defer cancel()
		if _, unlock := conn.Exec(ctx, `SELECT pg_advisory_unlock(hashtextextended($1, 0))`, key); unlock != nil {
			conn.Conn().Close(ctx) // a session that cannot unlock must end, and its lock with it
		}
	}()
	return true, fn(ctx)
}
