package store

import (
	"context"
	"fmt"
	"time"
)

// Undone returns a topic's unworked deliveries up to and including a row, in order of arrival.
func (s *Store) Undone(ctx context.Context, topic string, upTo int64) ([]int64, error) {
	var rows []int64
	err := s.pool.QueryRow(ctx, `
		SELECT coalesce(array_agg(id ORDER BY id), '{}') FROM deliveries WHERE state = 'received' AND topic = $1 AND id <= $2`,
		topic, upTo).Scan(&rows)
	if err != nil {
		return nil, fmt.Errorf("look for undone deliveries of %s: %w", topic, err)
	}
	return rows, nil
}

// UndoneIn returns the unworked deliveries about a repository, by any of its names, that came in before a row: those of its pull
// requests and commits too, in order of arrival.
func (s *Store) UndoneIn(ctx context.Context, names []string, before int64) ([]int64, error) {
	var rows []int64
	err := s.pool.QueryRow(ctx, `
		SELECT coalesce(array_agg(id ORDER BY id), '{}') FROM deliveries
		WHERE state = 'received' AND split_part(topic, '#', 1) = ANY ($1) AND id < $2`, names, before).Scan(&rows)
	if err != nil {
		return nil, fmt.Errorf("look for undone deliveries in %v: %w", names, err)
	}
	return rows, nil
}

// unlockTimeout is how long an unlocking may take before its session is ended instead.
const unlockTimeout = 5 * time.Second

// Alone runs fn while nobody else runs under the same key, in any process. ran is false, and fn untouched, when somebody
// does. It keeps one connection for itself; the lock ends with it, so a killed process holds nobody up.
func (s *Store) Alone(ctx context.Context, key string, fn func(context.Context) error) (ran bool, err error) {
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
