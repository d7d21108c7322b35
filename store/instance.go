package store

import (
	"context"
	"fmt"
)

// Instance gives this process a name in the queue, and finishes with what a killed process of the same name left there:
// its running jobs are available again and its leadership is over, at once instead of after a minute.
//
// That is safe because the name is held by a lock of this session for as long as the process lives: whoever gets the lock
// knows that nobody else goes by that name. Where another process does, a suffix is added and nothing is taken over.
func (s *Store) Instance(ctx context.Context, name string) (string, error) {
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
