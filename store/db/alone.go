package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// unlockTimeout is how long an unlock may take before the database session is closed instead.
const unlockTimeout = 5 * time.Second

// held is what a context has whose work is alone: its connection, and the keys that are locked on it.
type held struct {
	conn *pgxpool.Conn
	keys []string
}

type heldKey struct{}

// Alone runs fn while no process runs another under the same key. Otherwise ran is false and fn is not called. It holds one
// connection; the lock ends with that connection, so a killed process blocks nobody. Within fn, Alone takes no other connection: workers that
// each held one and waited for another would wait for each other.
func (s *DB) Alone(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
	outer, _ := ctx.Value(heldKey{}).(held)
	if slices.Contains(outer.keys, key) {
		return false, nil // a session gets its own lock again
	}
	conn := outer.conn
	if conn == nil {
		if conn, err = s.pool.Acquire(ctx); err != nil {
			return false, fmt.Errorf("take a connection for %s: %w", key, err)
		}
		defer conn.Release()
	}
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
	return true, fn(context.WithValue(ctx, heldKey{}, held{conn, append(slices.Clone(outer.keys), key)}))
}
