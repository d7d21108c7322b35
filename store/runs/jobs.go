package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Job is a job of a run on whose end something depends.
type Job struct {
	ID      string    // check_run_id
	Attempt int       // of the run
	Since   time.Time // something has depended on it
}

// Jobs returns the jobs of a run whose end was not confirmed yet and ends a cluster or a turn.
func (s *Store) Jobs(ctx context.Context, run string) ([]Job, error) {
	list, err := db.All[Job](ctx, s.db.Pool(), `
		SELECT id, attempt, min(since) AS since FROM (
			SELECT b.job AS id, b.attempt, b.bound_at AS since FROM run_clusters b JOIN clusters c ON c.id = b.cluster_id
				WHERE b.run_id = $1 AND b.lifetime = 'job' AND c.desired = 'present' AND (b.job_finished_at IS NULL OR NOT b.job_confirmed)
			UNION ALL
			SELECT u.job, u.attempt, u.asked_at FROM uses u WHERE u.run_id = $1 AND u.job <> '' AND u.released_at IS NULL) j
		GROUP BY id, attempt ORDER BY id`, run)
	if err != nil {
		return nil, fmt.Errorf("list the jobs of run %s: %w", run, err)
	}
	return list, nil
}

// SeeJob stores how a job finished, and settles what follows; the zero Finish: it is running. finish.At does not count: the time is
// when this is stored. confirmed is false if only a webhook says so; then its turn is kept.
func (s *Store) SeeJob(ctx context.Context, run, job string, finish lifecycle.Finish, confirmed bool) error {
	_, err := s.change(ctx, run, func(c *db.Tx, known Run) (Run, error) {
		args := pgx.NamedArgs{"run": run, "job": job, "finished": !finish.At.IsZero(), "conclusion": finish.Conclusion, "confirmed": confirmed, "now": c.Now}
		_, err := c.Exec(ctx, `
			UPDATE run_clusters SET job_confirmed = @confirmed,
				job_conclusion = CASE WHEN @finished THEN @conclusion ELSE '' END,
				job_finished_at = CASE WHEN @finished THEN coalesce(job_finished_at, @now) END
			WHERE run_id = @run AND job = @job AND lifetime = 'job' AND (@confirmed OR job_finished_at IS NULL)`, args)
		if err != nil {
			return Run{}, fmt.Errorf("write the end of job %s: %w", job, err)
		}
		if finish.At.IsZero() || !confirmed {
			return known, nil
		}
		open, err := db.All[openUse](ctx, c, `
			SELECT id, cluster_id AS cluster FROM uses WHERE run_id = @run AND job = @job AND released_at IS NULL ORDER BY cluster_id, id`, args)
		if err != nil {
			return Run{}, fmt.Errorf("list the turns of job %s: %w", job, err)
		}
		if err := releaseEach(ctx, c, open, "its job finished"); err != nil {
			return Run{}, err
		}
		return known, revokeJob(ctx, c, run, job)
	})
	return err
}

// missJobs stores of a run's jobs whose end only a webhook told that they are gone with the run.
func missJobs(ctx context.Context, c *db.Tx, run string) error {
	_, err := c.Exec(ctx, `
		UPDATE run_clusters SET job_conclusion = @gone, job_confirmed = true
		WHERE run_id = @run AND job_finished_at IS NOT NULL AND NOT job_confirmed`, pgx.NamedArgs{"run": run, "gone": lifecycle.ConclusionGone})
	if err != nil {
		return fmt.Errorf("write that the jobs of run %s are gone: %w", run, err)
	}
	return nil
}
