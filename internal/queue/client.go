package queue

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

const (
	FetchCooldown = 10 * time.Millisecond
	fetchPoll     = 5 * time.Second  // if a notification was lost: one follows every commit, and one comes when a job is due again
	jobTimeout    = 30 * time.Second // long work runs in runners, not in jobs
	rescueAfter   = time.Minute
	keepCompleted = 2 * time.Minute // longer than two looks for findings, which a later success resolves
	softStop      = 10 * time.Second

	spareConns = 10 // for rounds, which hold one too, and for all other queries

	retryBase = time.Second
	retryMax  = time.Minute
)

// RiverConfig configures a River client.
type RiverConfig struct {
	Instance string         // this process's name, from Store.Instance; empty: River makes one up
	Queues   map[string]int // queue → jobs at once; nil: all four queues with their defaults
	Periodic []*river.PeriodicJob
	Logger   *slog.Logger // nil: River's own

	Log     *slog.Logger       // logs failed jobs; nil: slog's default
	OnError func(kind string)  // counts a failed job; nil: they are not counted
	Notify  func(queue string) // has a queue looked at; nil: a job that is due again waits for the next poll
}

// NewClient returns a River client that runs the registered workers' jobs. The caller starts and stops it, and keeps the pool.
func NewClient(_ context.Context, pool *pgxpool.Pool, workers *river.Workers, c RiverConfig) (*river.Client[pgx.Tx], error) {
	if c.Queues == nil {
		c.Queues = map[string]int{QueueInbox: 10, QueueReconcile: 20, QueueEffects: 10, QueueMessages: 10}
	}
	// A worker under Alone holds one connection and queries through another: if all were held, all would wait for each other.
	if need := c.Queues[QueueInbox] + c.Queues[QueueMessages] + spareConns; int(pool.Config().MaxConns) < need {
		return nil, fmt.Errorf("make the River client: the database's pool_max_conns is %d; these workers need %d or more", pool.Config().MaxConns, need)
	}
	queues := make(map[string]river.QueueConfig, len(c.Queues))
	for name, n := range c.Queues {
		queues[name] = river.QueueConfig{MaxWorkers: n}
	}
	log := c.Log
	if log == nil {
		log = slog.Default()
	}
	failures := jobErrors{pool: pool, log: log, count: c.OnError}
	middleware := []rivertype.Middleware{&causes{failures: failures}}
	if c.Notify != nil {
		middleware = append(middleware, &again{notify: c.Notify})
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		ID:                          c.Instance,
		Queues:                      queues,
		Workers:                     workers,
		PeriodicJobs:                c.Periodic,
		Logger:                      c.Logger,
		FetchCooldown:               FetchCooldown,
		FetchPollInterval:           fetchPoll,
		JobTimeout:                  jobTimeout,
		RescueStuckJobsAfter:        rescueAfter,
		CompletedJobRetentionPeriod: keepCompleted,
		SoftStopTimeout:             softStop,
		RetryPolicy:                 retryPolicy{},
		ErrorHandler:                failures,
		Middleware:                  middleware,
	})
	if err != nil {
		return nil, fmt.Errorf("make the River client: %w", err)
	}
	return client, nil
}

// retryPolicy doubles the wait from a second to a minute. WakeDue asks again for what waits longer than that.
type retryPolicy struct{}

// NextRetry implements river.ClientRetryPolicy.
func (retryPolicy) NextRetry(job *rivertype.JobRow) time.Time {
	wait := retryBase
	for range len(job.Errors) {
		wait = min(2*wait, retryMax)
	}
	return time.Now().UTC().Add(wait)
}
