package runs

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Seen is the state of a run as its platform, or a webhook alone, describes it.
type Seen struct {
	Installation int64 // 0: as known
	Repo, Name   string
	Attempt      int
	State        lifecycle.RunState
	Conclusion   string    // of a finished run
	UpdatedAt    time.Time // the platform's
	Confirmed    bool      // the platform answered; false: a webhook says so, and the platform could not be asked
}

// See stores the state of a run and settles what follows from it. next is when to ask the platform again if anything depends on it. An
// older state than the known one changes nothing, and neither does an unconfirmed one, unless it finishes the known attempt.
func (s *Store) See(ctx context.Context, id string, seen Seen, next time.Time) (Run, error) {
	return s.change(ctx, id, func(c *db.Tx, run Run) (Run, error) {
		if !seen.Confirmed {
			return storeUnconfirmed(ctx, c, run, seen, next)
		}
		state := run
		if seen.replaces(run) {
			state.Attempt, state.State, state.Conclusion, state.Confirmed = seen.Attempt, seen.State, seen.Conclusion, true
			state.UpdatedAt = db.Null(seen.UpdatedAt)
			goesOn := run.State == lifecycle.RunFinished && run.Attempt == seen.Attempt
			switch {
			case seen.State == lifecycle.RunRunning:
				state.FinishedAt, state.Conclusion = nil, ""
			case !goesOn:
				state.FinishedAt = db.Null(c.Now)
			}
		}
		state.MissedAt, state.Unwatched = nil, ""
		if seen.Installation != 0 {
			state.Installation = seen.Installation
		}
		if seen.Repo != "" {
			state.Repo = seen.Repo
		}
		if seen.Name != "" {
			state.Name = seen.Name
		}
		return update(ctx, c, state, next)
	})
}

// replaces reports whether a confirmed state is newer than the known one. Not all of GitHub's servers have the newest state at once.
func (seen Seen) replaces(run Run) bool {
	switch {
	case seen.Attempt != run.Attempt:
		return seen.Attempt > run.Attempt
	case !run.Confirmed || run.UpdatedAt == nil || run.Conclusion == lifecycle.ConclusionGone:
		return true
	case seen.UpdatedAt.Equal(*run.UpdatedAt):
		return run.State == lifecycle.RunRunning
	}
	return seen.UpdatedAt.After(*run.UpdatedAt)
}

// storeUnconfirmed stores what only a webhook says: that the known attempt finished.
func storeUnconfirmed(ctx context.Context, c *db.Tx, run Run, seen Seen, next time.Time) (Run, error) {
	if seen.State != lifecycle.RunFinished || seen.Attempt != run.Attempt || run.State == lifecycle.RunFinished {
		return run, nil
	}
	run.State, run.Conclusion, run.FinishedAt, run.Confirmed = lifecycle.RunFinished, seen.Conclusion, db.Null(c.Now), false
	return update(ctx, c, run, next)
}

// leastMissing is the least time between two answers that both miss a run before it counts as deleted.
const leastMissing = time.Minute

// Miss stores that the platform answered and does not have a run. The second such answer, at least a minute after the first, means that
// one that was running was deleted. What only a webhook said of the run and its jobs does not count then: nobody can confirm it any more.
func (s *Store) Miss(ctx context.Context, id string, next time.Time) (Run, error) {
	return s.change(ctx, id, func(c *db.Tx, run Run) (Run, error) {
		run.Unwatched = ""
		switch {
		case run.MissedAt == nil:
			run.MissedAt = db.Null(c.Now)
		case c.Now.Sub(*run.MissedAt) >= leastMissing:
			if !run.Confirmed || run.State == lifecycle.RunRunning { // one that finished before keeps its conclusion
				run.State, run.Conclusion, run.Confirmed = lifecycle.RunFinished, lifecycle.ConclusionGone, true
				run.FinishedAt = cmp.Or(run.FinishedAt, db.Null(c.Now))
			}
			if err := missJobs(ctx, c, id); err != nil {
				return Run{}, err
			}
		}
		return update(ctx, c, run, next)
	})
}

// Unwatch stores why the platform cannot be asked about a run, until it can.
func (s *Store) Unwatch(ctx context.Context, id, why string, next time.Time) (Run, error) {
	return s.change(ctx, id, func(c *db.Tx, run Run) (Run, error) {
		run.Unwatched, run.MissedAt = why, nil
		return update(ctx, c, run, next)
	})
}

// Postpone sets when to ask about a run again, whose platform gave no answer.
func (s *Store) Postpone(ctx context.Context, id string, next time.Time) error {
	_, err := s.db.Pool().Exec(ctx, `UPDATE runs SET look_at = $2 WHERE id = $1 AND look_at IS NOT NULL`, id, db.Null(next))
	if err != nil {
		return fmt.Errorf("postpone the look at %s: %w", id, err)
	}
	return nil
}

// change runs do on a locked run, and settles what follows.
func (s *Store) change(ctx context.Context, id string, do func(*db.Tx, Run) (Run, error)) (run Run, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		known, err := db.One[Run](ctx, c, `SELECT `+runColumns+` FROM runs r WHERE id = $1 FOR NO KEY UPDATE`, id)
		if err != nil {
			return err
		}
		if err := lockClusters(ctx, c, id, ""); err != nil {
			return err
		}
		if run, err = do(c, known); err != nil {
			return err
		}
		return settle(ctx, c, run)
	})
	if err != nil {
		return Run{}, fmt.Errorf("write what is known of run %s: %w", id, err)
	}
	return run, nil
}

// update writes a run. A run on which nothing depends is not looked at.
func update(ctx context.Context, c *db.Tx, run Run, next time.Time) (Run, error) {
	out, err := db.One[Run](ctx, c, `
		UPDATE runs r SET installation = @installation, repo = @repo, name = @name, attempt = @attempt, state = @state, conclusion = @conclusion,
			finished_at = @finished, confirmed = @confirmed, updated_at = @updated, missed_at = @missed, unwatched = @unwatched, seen_at = @now, look_at = @next
		WHERE id = @id RETURNING `+runColumns,
		pgx.NamedArgs{
			"id": run.ID, "installation": run.Installation, "repo": run.Repo, "name": run.Name, "attempt": run.Attempt, "state": run.State,
			"conclusion": run.Conclusion, "finished": run.FinishedAt, "confirmed": run.Confirmed, "updated": run.UpdatedAt, "missed": run.MissedAt,
			"unwatched": run.Unwatched, "now": c.Now, "next": db.Null(next),
		})
	if err != nil {
		return Run{}, fmt.Errorf("update the run: %w", err)
	}
	return out, nil
}

// depends selects whether anything depends on the state of run r at the time @now: a wanted cluster, a turn, or access to a cluster.
const depends = `(EXISTS (SELECT FROM run_clusters b JOIN clusters c ON c.id = b.cluster_id WHERE b.run_id = r.id AND c.desired = 'present')
	OR EXISTS (SELECT FROM uses u WHERE u.run_id = r.id AND u.released_at IS NULL)
	OR EXISTS (SELECT FROM access a JOIN clusters c ON c.id = a.cluster_id WHERE a.run_id = r.id AND c.desired = 'present' AND ` + openAccess + `))`

// ToLook returns the runs to ask about, the longest due first, and forgets to ask about those on which nothing depends.
func (s *Store) ToLook(ctx context.Context, now time.Time, limit int) ([]Run, error) {
	_, err := s.db.Pool().Exec(ctx, `UPDATE runs r SET look_at = NULL WHERE look_at <= @now AND NOT `+depends, pgx.NamedArgs{"now": db.Null(now)})
	if err != nil {
		return nil, fmt.Errorf("forget runs on which nothing depends: %w", err)
	}
	list, err := db.All[Run](ctx, s.db.Pool(), `SELECT `+runColumns+` FROM runs r WHERE look_at <= @now ORDER BY look_at, id LIMIT @limit`, pgx.NamedArgs{"now": db.Null(now), "limit": limit})
	if err != nil {
		return nil, fmt.Errorf("list runs to look at: %w", err)
	}
	return list, nil
}
