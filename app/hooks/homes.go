package hooks

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store"
)

// homesEvery is how often Homes are looked for that show a cluster which changed since.
const homesEvery = 15 * time.Second

// Homes keeps the app's Home in Slack up to date for those who opened it in the last day. It asks the database which Homes show
// something that changed, so that a change needs to tell nobody, and nothing is lost while no worker runs.
type Homes struct {
	river.WorkerDefaults[queue.HomesArgs]
	store *store.Store
}

// NewHomes returns the worker of queue.HomesArgs.
func NewHomes(s *store.Store) *Homes { return &Homes{store: s} }

// Periodic returns the periodic job.
func (h *Homes) Periodic() *river.PeriodicJob {
	return river.NewPeriodicJob(cron.Every(homesEvery), func() (river.JobArgs, *river.InsertOpts) {
		return queue.HomesArgs{}, nil
	}, &river.PeriodicJobOpts{ID: "homes"})
}

// Work implements river.Worker.
func (h *Homes) Work(ctx context.Context, _ *river.Job[queue.HomesArgs]) error {
	_, err := h.store.Outbox.RefreshHomes(ctx)
	return err
}

// homeShower shows Homes: slackapp.Service.
type homeShower interface {
	ShowHome(ctx context.Context, workspace, person string) error
}

// HomeWorker shows one person's Home again.
type HomeWorker struct {
	river.WorkerDefaults[queue.HomeArgs]
	inSlack homeShower
	log     *slog.Logger
}

// NewHomeWorker returns the worker of queue.HomeArgs.
func NewHomeWorker(s *slackapp.Service, log *slog.Logger) *HomeWorker {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &HomeWorker{inSlack: s, log: log}
}

// Work implements river.Worker. What Slack will never show, or not until a person changes something, is not tried again: the next
// change, or the next time that the person opens Home, is a try of its own.
func (w *HomeWorker) Work(ctx context.Context, job *river.Job[queue.HomeArgs]) error {
	err := w.inSlack.ShowHome(ctx, job.Args.Workspace, job.Args.Person)
	var limited slack.RateLimited
	switch {
	case errors.As(err, &limited):
		return river.JobSnooze(limited.RetryAfter)
	case errors.Is(err, slack.ErrRefused), errors.Is(err, slack.ErrNever):
		w.log.WarnContext(ctx, "home not shown", "person", job.Args.Person, "err", err)
		return nil
	}
	return err
}
