package store

import (
	"context"
	"fmt"
)

// Answered says whether a cause got its answer: then everything it asked for was done, and must not be done again.
func (s *Store) Answered(ctx context.Context, cause string) (done bool, err error) {
	if err := s.pool.QueryRow(ctx, answered, cause).Scan(&done); err != nil {
		return false, fmt.Errorf("look for the answer to %s: %w", cause, err)
	}
	return done, nil
}

const answered = `SELECT EXISTS (SELECT 1 FROM replies WHERE cause = $1)`

// forCause runs do on the locked cluster unless the cause was answered before. do saves the answer beside what it does, so that
// a comment processed twice (its process died in between, its webhook was sent again) does nothing the second time.
func (s *Store) forCause(ctx context.Context, id, cause string, a *Afford, do func(*change, held) error) error {
	return s.write(ctx, func(c *change) error {
		if err := c.waitToAfford(ctx, a); err != nil {
			return err
		}
		cur, err := c.lock(ctx, id) // from here on one comment at a time
		if err != nil {
			return err
		}
		var done bool
		if err := c.QueryRow(ctx, answered, cause).Scan(&done); err != nil {
			return fmt.Errorf("look for the answer to %s: %w", cause, err)
		}
		if done {
			return nil
		}
		return do(c, cur)
	})
}

// DestroyOnce turns the wish like Destroy and saves the answer in the same transaction, so that a cause that was answered
// before takes down nothing that was made since. answer is asked for the words once the teardown's job is known.
func (s *Store) DestroyOnce(ctx context.Context, id string, d Deed, cause string, answer func(job string) Reply) error {
	err := s.forCause(ctx, id, cause, nil, func(c *change, cur held) error {
		job, err := c.destroy(ctx, cur, d)
		if err != nil {
			return err
		}
		reply := answer(job)
		reply.Cause = cause
		return c.reply(ctx, reply)
	})
	if err != nil {
		return fmt.Errorf("destroy %s: %w", id, err)
	}
	return nil
}
