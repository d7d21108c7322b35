package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// correlationTimeout bounds the query for a failed job's cluster and correlation id.
const correlationTimeout = 2 * time.Second

// jobErrors logs every failed job once and counts it. River itself logs errors of jobs at INFO only.
type jobErrors struct {
	pool  *pgxpool.Pool
	log   *slog.Logger
	count func(kind string) // nil: they are not counted
}

// HandleError implements river.ErrorHandler.
func (e jobErrors) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	e.tell(ctx, job, err.Error())
	return nil
}

// HandlePanic implements river.ErrorHandler.
func (e jobErrors) HandlePanic(ctx context.Context, job *rivertype.JobRow, panicked any, trace string) *river.ErrorHandlerResult {
	e.tell(ctx, job, fmt.Sprintf("panic: %v\n%s", panicked, trace))
	return nil
}

func (e jobErrors) tell(ctx context.Context, job *rivertype.JobRow, err string) {
	if e.count != nil {
		e.count(job.Kind)
	}
	cluster, correlation := e.about(ctx, job)
	e.log.Warn("job failed", "kind", job.Kind, "key", string(job.EncodedArgs), "attempt", job.Attempt, "max_attempts", job.MaxAttempts,
		"cluster", cluster, "correlation", correlation, "job", job.ID, "err", err)
}

// about looks up which cluster a job is about and what caused it: a delivery's id, the cause of a reply or an effect, or the
// request that the cluster was accepted for. What cannot be found is empty; the error itself is logged in any case.
func (e jobErrors) about(ctx context.Context, job *rivertype.JobRow) (cluster, correlation string) {
	var args struct {
		Row                                int64
		Cluster, Subscriber, Reply, Effect string
	}
	if json.Unmarshal(job.EncodedArgs, &args) != nil {
		return "", ""
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), correlationTimeout) // the job's own time may be over
	defer cancel()
	err := e.pool.QueryRow(ctx, `
		WITH about AS (SELECT coalesce(nullif(@cluster, ''), (SELECT cluster_id FROM subscribers WHERE id = @subscriber), '') AS cluster)
		SELECT cluster, coalesce(
			(SELECT delivery_id FROM deliveries WHERE id = @row),
			(SELECT cause FROM replies WHERE id = @reply),
			(SELECT cause FROM effects WHERE id = @effect),
			(SELECT id FROM cluster_requests WHERE cluster_id = cluster ORDER BY created_at LIMIT 1), '')
		FROM about`,
		pgx.NamedArgs{"cluster": args.Cluster, "subscriber": args.Subscriber, "row": args.Row, "reply": args.Reply, "effect": args.Effect}).
		Scan(&cluster, &correlation)
	if err != nil {
		e.log.Debug("the failed job's correlation id was not found", "job", job.ID, "err", err)
		return args.Cluster, ""
	}
	return cluster, correlation
}

// FailingFor is how long a delivery has to fail before it becomes a finding.
const FailingFor = 5 * time.Minute

// MostWorkFindings bounds the findings of each kind in one sweep.
const MostWorkFindings = 100
