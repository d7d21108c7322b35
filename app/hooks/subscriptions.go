package hooks

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/internal/queue"
)

const (
	subscriptionsEvery = time.Hour       // how often the subscriptions of channels are judged again
	subscriptionsTime  = 5 * time.Minute // for one round
)

// Subscriptions ends the subscriptions of those who may no longer have them.
type Subscriptions struct {
	river.WorkerDefaults[queue.SubscriptionsArgs]
	inSlack *slackapp.Service
	log     *slog.Logger
}

// NewSubscriptions returns the worker of queue.SubscriptionsArgs.
func NewSubscriptions(inSlack *slackapp.Service, log *slog.Logger) *Subscriptions {
	return &Subscriptions{inSlack: inSlack, log: log}
}

// Periodic returns the periodic job.
func (s *Subscriptions) Periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(cron.Every(subscriptionsEvery), func() (river.JobArgs, *river.InsertOpts) {
		return queue.SubscriptionsArgs{}, nil
	}, &river.PeriodicJobOpts{RunOnStart: true, ID: "subscriptions"})
}

// Timeout implements river.Worker.
func (s *Subscriptions) Timeout(*river.Job[queue.SubscriptionsArgs]) time.Duration {
	return subscriptionsTime
}

// Work implements river.Worker. What could not be judged is judged in the next round.
func (s *Subscriptions) Work(ctx context.Context, _ *river.Job[queue.SubscriptionsArgs]) error {
	if err := s.inSlack.JudgeSubscriptions(ctx); err != nil {
		s.log.WarnContext(ctx, "subscriptions not judged", "err", err)
	}
	return ctx.Err()
}
