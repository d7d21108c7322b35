package queue

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// againLater is added to the time of a job that runs again: River may store it a moment later.
const againLater = 20 * time.Millisecond

// again has the queue looked at when a job that snoozed or failed is due again. River only finds such a job when it polls the queue.
type again struct {
	river.MiddlewareDefaults
	notify func(queue string)
}

// Work implements rivertype.WorkerMiddleware.
func (a *again) Work(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
	err := work(ctx)
	if err == nil {
		return nil
	}
	wait := time.Until(retryPolicy{}.NextRetry(job))
	var snooze *river.JobSnoozeError
	if errors.As(err, &snooze) {
		wait = snooze.Duration
	}
	time.AfterFunc(wait+againLater, func() { a.notify(job.Queue) })
	return err
}
