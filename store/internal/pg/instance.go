package pg

import (
	"context"
	"fmt"
)

// Instance registers this process under a name in the queue and cleans up after a killed process of the same name: its running
// jobs become available and its leadership ends at once instead of after a minute.
//
// That is safe because a session lock holds the name for as long as the process lives: whoever gets the lock is the only one of
// that name. If another process holds it, a suffix is added and nothing is taken over.
func (s *DB) Instance(ctx context.Context, name string) (string, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return "", fmt.Errorf("take a connection for the instance's lock: %w", err)
	}
	s.stands = conn
	var free bool
	if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended('instance ' || $1, 0))`, name).Scan(&free); err != nil {
		return "", fmt.Errorf("lock the instance %s: %w", name, err)
	}
	if !free {
		return NewID(name), nil
	}
	_, err = conn.Exec(ctx, `
		UPDATE river_job SET scheduled_at = now(),
			state = CASE WHEN attempt < max_attempts THEN 'available'::river_job_state ELSE 'discarded' END,
			finalized_at = CASE WHEN attempt < max_attempts THEN NULL ELSE now() END
		WHERE state = 'running' AND attempted_by[array_upper(attempted_by, 1)] = $1`, name)
	if err != nil {
		return "", fmt.Errorf("free the jobs of the instance %s: %w", name, err)
	}
	if _, err := conn.Exec(ctx, `DELETE FROM river_leader WHERE leader_id = $1`, name); err != nil {
		return "", fmt.Errorf("end the leadership of the instance %s: %w", name, err)
	}
	return name, nil
}
