package queue

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/ocpctl/ocpctl/internal/tracing"
)

// Metadata returns a job's metadata with the cause of the context's work: the job's own work has the same cause. nil: nothing from
// outside caused it, for example the clock; then the job's cause is that of what it is about.
func Metadata(ctx context.Context) []byte {
	cause := tracing.Of(ctx)
	if cause.Correlation == "" {
		return nil
	}
	raw, err := json.Marshal(cause)
	if err != nil {
		return nil // two strings always have a JSON form
	}
	return raw
}

// causes gives each run of a job the cause that it was enqueued with, and records it as a span.
type causes struct {
	river.MiddlewareDefaults
	failures jobErrors
}

// Work implements rivertype.WorkerMiddleware.
func (c *causes) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	ctx = tracing.With(ctx, c.causeOf(ctx, job))
	ctx, span := tracing.Start(ctx, tracing.Internal, "job "+job.Kind)
	defer span.End()
	err := work(ctx)
	var snooze *river.JobSnoozeError
	if err != nil && !errors.As(err, &snooze) {
		span.Fail("the job failed; the log line \"job failed\" says why")
	}
	return err
}

// causeOf reads the cause from the job's metadata, or that of what the job is about.
func (c *causes) causeOf(ctx context.Context, job *rivertype.JobRow) tracing.Cause {
	var cause tracing.Cause
	if json.Unmarshal(job.Metadata, &cause) != nil || cause.Correlation == "" {
		_, cause = c.failures.subjectOf(ctx, job)
	}
	return cause
}
