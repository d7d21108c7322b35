package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/oklog/ulid/v2"

	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// closeAttempt closes the open attempt for the control plane. ErrStale: it is no longer open, or was claimed or renewed its
// lease since the decision was made. The runner is then told to stop and watched, not abandoned.
func closeAttempt(ctx context.Context, c *db.Tx, cluster string, by lifecycle.Closing) error {
	tag, err := c.Exec(ctx, `
		UPDATE attempts SET closed_at = @now, outcome = @outcome, message = @message, reason = @reason, whose = @whose, next = @next
		WHERE cluster_id = @cluster AND number = @number AND closed_at IS NULL AND lease_until IS NOT DISTINCT FROM @lease`,
		pgx.NamedArgs{"cluster": cluster, "number": by.Number, "outcome": by.Outcome, "message": by.Message,
			"reason": by.Reason, "whose": by.Whose, "next": by.Next, "lease": db.Null(by.Lease), "now": c.Now})
	if err != nil {
		return fmt.Errorf("close attempt %d of %s: %w", by.Number, cluster, err)
	}
	if tag.RowsAffected() == 0 {
		return db.ErrStale
	}
	clusters.FreeRunner(c)
	return nil
}

// askToStop makes every further answer to the open attempt's runner say stop.
func askToStop(ctx context.Context, c *db.Tx, cluster, why string) error {
	_, err := c.Exec(ctx, `
		UPDATE attempts SET stop_asked = true, stop_why = $2 WHERE cluster_id = $1 AND closed_at IS NULL AND NOT stop_asked`, cluster, why)
	if err != nil {
		return fmt.Errorf("ask the runner of %s to stop: %w", cluster, err)
	}
	return nil
}

// openAttempt opens the next attempt under the unfinished job of the type. ErrStale: another attempt is open.
func openAttempt(ctx context.Context, c *db.Tx, cluster string, d lifecycle.Decision) (number int, err error) {
	kind, job := d.Open, d.OpenJob
	phase := lifecycle.Restoring
	if kind == lifecycle.Create {
		phase = lifecycle.Preflight
	}
	cause := tracing.Of(ctx)
	err = c.QueryRow(ctx, `
		WITH opened AS (
			INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase, expected_seconds, late_seconds, request, workers_wanted, spot, correlation, traceparent)
			SELECT @id, @cluster, j.id, 1 + coalesce((SELECT max(number) FROM attempts WHERE cluster_id = @cluster), 0),
				@kind, @token, @now, @phase, ceil(took[1]), ceil(took[2]),
				@request, @workers, @spot,
				coalesce(nullif(@correlation, ''), (SELECT correlation FROM cluster_requests WHERE cluster_id = @cluster ORDER BY created_at DESC, id DESC LIMIT 1), ''), @traceparent
			FROM jobs j JOIN clusters c ON c.id = j.cluster_id, LATERAL (`+clusters.ExpectedOf+`) AS past (took) WHERE j.cluster_id = @cluster AND j.job_type = @job AND j.ended_at IS NULL
			RETURNING number, job_id
		)
		UPDATE jobs j SET attempt = o.number FROM opened o WHERE j.id = o.job_id RETURNING o.number`,
		pgx.NamedArgs{
			"id": db.NewID("att"), "token": ulid.Make().String(), "cluster": cluster, "kind": kind, "job": job, "phase": phase, "now": c.Now, "request": d.Request, "workers": d.Workers, "spot": d.Spot,
			"correlation": cause.Correlation, "traceparent": cause.Traceparent,
		}).Scan(&number)
	var failure *pgconn.PgError
	switch {
	case errors.As(err, &failure) && failure.ConstraintName == "attempts_one_open":
		return 0, db.ErrStale
	case errors.Is(err, pgx.ErrNoRows):
		return 0, fmt.Errorf("open an attempt of %s: no unfinished %s job", cluster, job)
	case err != nil:
		return 0, fmt.Errorf("open an attempt of %s: %w", cluster, err)
	case kind == lifecycle.Create:
		return number, access.ForgetAccounts(ctx, c, cluster)
	}
	return number, nil
}

// moveJob sets the unfinished job of a type to a status. If there is none, a start adds one and an end changes nothing.
func moveJob(ctx context.Context, c *db.Tx, cluster string, m lifecycle.JobMove) error {
	ends := m.To == lifecycle.JobSucceeded || m.To == lifecycle.JobFailed
	if !ends {
		_, err := c.Exec(ctx, `
			INSERT INTO jobs (id, cluster_id, job_type, status, created_at) VALUES ($1, $2, $3, 'PENDING', $4)
			ON CONFLICT (cluster_id, job_type) WHERE ended_at IS NULL DO NOTHING`, db.NewID("job"), cluster, m.Type, c.Now)
		if err != nil {
			return fmt.Errorf("add a %s job to %s: %w", m.Type, cluster, err)
		}
	}
	if m.To == lifecycle.JobRunning { // one runs at a time. That of an attempt of an unknown kind is over, and a server that knows it says how it went
		_, err := c.Exec(ctx, `
			UPDATE jobs j SET status = 'RETRYING' WHERE cluster_id = $1 AND status = 'RUNNING' AND job_type <> $2
				AND NOT EXISTS (SELECT FROM attempts a WHERE a.job_id = j.id AND a.closed_at IS NULL)`, cluster, m.Type)
		if err != nil {
			return fmt.Errorf("let the running jobs of %s rest: %w", cluster, err)
		}
	}
	_, err := c.Exec(ctx, `
		UPDATE jobs SET status = @to, error_code = @code, error_message = @message,
			started_at = CASE WHEN @to = 'RUNNING' THEN coalesce(started_at, @now) ELSE started_at END,
			ended_at = CASE WHEN @ends THEN @now::timestamptz END
		WHERE cluster_id = @cluster AND job_type = @type AND ended_at IS NULL`,
		pgx.NamedArgs{"cluster": cluster, "type": m.Type, "to": m.To, "code": m.Code, "message": m.Message, "ends": ends, "now": c.Now})
	if err != nil {
		return fmt.Errorf("move the %s job of %s to %s: %w", m.Type, cluster, m.To, err)
	}
	return nil
}

// setReady sets the condition that says whether the cluster can be used.
func setReady(ctx context.Context, c *db.Tx, cluster lifecycle.Cluster) error {
	q := clusters.Condition{Type: "Ready", Status: "False", Reason: string(cluster.Phase), Message: cluster.Why.String()}
	if cluster.Usable() {
		q.Status = "True"
	}
	return clusters.SetCondition(ctx, c, cluster.ID, q)
}

// setAsked sets the condition of a scaling or a refresh.
func setAsked(ctx context.Context, c *db.Tx, cluster string, m lifecycle.JobMove) error {
	switch m.Type {
	case lifecycle.JobScale:
		return setScaled(ctx, c, cluster, m)
	case lifecycle.JobConfigure:
		return setConfigured(ctx, c, cluster, m)
	}
	return nil
}

// setScaled sets the condition that says whether the requested workers are there.
func setScaled(ctx context.Context, c *db.Tx, cluster string, m lifecycle.JobMove) error {
	q := clusters.Condition{Type: "Scaled", Status: "False", Reason: m.Code, Message: m.Message}
	switch m.To {
	case lifecycle.JobRunning:
		q.Reason, q.Message = "Scaling", "the workers that were asked for are being made or removed"
	case lifecycle.JobSucceeded:
		q.Status, q.Reason, q.Message = "True", "Counted", "the workers that were asked for were counted"
	}
	return clusters.SetCondition(ctx, c, cluster, q)
}
