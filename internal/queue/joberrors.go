package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/ocpctl/ocpctl/internal/tracing"
)

// causeTimeout bounds the query for a job's cluster and cause.
const causeTimeout = 2 * time.Second

// jobErrors logs every failed job once and counts it. River itself logs errors of jobs at INFO only.
type jobErrors struct {
	pool  *pgxpool.Pool
	log   *slog.Logger
	count func(kind string) // nil: they are not counted
}

// HandleError implements river.ErrorHandler.
func (e jobErrors) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	e.tellObserver(ctx, job, err.Error())
	return nil
}

// HandlePanic implements river.ErrorHandler.
func (e jobErrors) HandlePanic(ctx context.Context, job *rivertype.JobRow, panicked any, trace string) *river.ErrorHandlerResult {
	e.tellObserver(ctx, job, fmt.Sprintf("panic: %v\n%s", panicked, trace))
	return nil
}

func (e jobErrors) tellObserver(ctx context.Context, job *rivertype.JobRow, err string) {
	if e.count != nil {
		e.count(job.Kind)
	}
	cluster, cause := e.subjectOf(ctx, job)
	var stored tracing.Cause
	if json.Unmarshal(job.Metadata, &stored) == nil {
		cause.Correlation = cmp.Or(stored.Correlation, cause.Correlation)
	}
	e.log.Warn("job failed", "kind", job.Kind, "key", string(job.EncodedArgs), "attempt", job.Attempt, "max_attempts", job.MaxAttempts,
		"cluster", cluster, "correlation", cause.Correlation, "job", job.ID, "err", err)
}

// subjectOf looks up which cluster a job is about and what caused it: a delivery's id, the cause of a reply or an effect, or what caused
// the cluster's newest attempt, otherwise the cluster itself. What cannot be found is empty.
func (e jobErrors) subjectOf(ctx context.Context, job *rivertype.JobRow) (cluster string, cause tracing.Cause) {
	var args struct {
		Row                                int64
		Cluster, Subscriber, Reply, Effect string
	}
	if json.Unmarshal(job.EncodedArgs, &args) != nil || args.Row == 0 && args.Cluster+args.Subscriber+args.Reply+args.Effect == "" {
		return "", tracing.Cause{}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), causeTimeout) // the job's own time may be over
	defer cancel()
	err := e.pool.QueryRow(ctx, `
		WITH about AS (SELECT coalesce(nullif(@cluster, ''), (SELECT cluster_id FROM subscribers WHERE id = @subscriber), '') AS cluster)
		SELECT cluster, coalesce(
			(SELECT delivery_id FROM deliveries WHERE id = @row),
			(SELECT cause FROM replies WHERE id = @reply),
			(SELECT cause FROM effects WHERE id = @effect),
			(SELECT nullif(correlation, '') FROM attempts WHERE cluster_id = cluster ORDER BY number DESC LIMIT 1),
			(SELECT coalesce(nullif(correlation, ''), id) FROM cluster_requests WHERE cluster_id = cluster ORDER BY created_at LIMIT 1), ''),
			coalesce((SELECT traceparent FROM deliveries WHERE id = @row),
				(SELECT traceparent FROM attempts WHERE cluster_id = cluster ORDER BY number DESC LIMIT 1), '')
		FROM about`,
		pgx.NamedArgs{"cluster": args.Cluster, "subscriber": args.Subscriber, "row": args.Row, "reply": args.Reply, "effect": args.Effect}).
		Scan(&cluster, &cause.Correlation, &cause.Traceparent)
	if err != nil {
		e.log.Debug("the job's cause was not found", "job", job.ID, "err", err)
		return args.Cluster, tracing.Cause{}
	}
	return cluster, cause
}

// FailingFor is how long a delivery has to fail before it becomes a finding.
const FailingFor = 5 * time.Minute

// MostWorkFindings bounds the findings of each kind in one look.
const MostWorkFindings = 100
