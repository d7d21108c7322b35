package controller

import (
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"

	"github.com/ocpctl/ocpctl/internal/queue"
)

// Periodic returns the controller's periodic jobs on robfig/cron schedules. River's leader enqueues each once per period.
func (c *Controller) Periodic() []*river.PeriodicJob {
	return []*river.PeriodicJob{
		river.NewPeriodicJob(every(c.Wake), func() (river.JobArgs, *river.InsertOpts) {
			return queue.WakeArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true, ID: "wake"}),
		river.NewPeriodicJob(every(turnsEvery), func() (river.JobArgs, *river.InsertOpts) {
			return queue.TurnsArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true, ID: "turns"}),
		river.NewPeriodicJob(every(poolsEvery), func() (river.JobArgs, *river.InsertOpts) {
			return queue.PoolsArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true, ID: "pools"}),
		// Not at the start: what was missed during a downtime should be processed before it becomes a finding.
		river.NewPeriodicJob(every(c.FindEvery), func() (river.JobArgs, *river.InsertOpts) {
			return queue.FindingsArgs{}, nil
		}, &river.PeriodicJobOpts{ID: "findings"}),
		river.NewPeriodicJob(every(findScansEvery), func() (river.JobArgs, *river.InsertOpts) {
			return queue.RunScansArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true, ID: "run_scans"}),
		river.NewPeriodicJob(every(pruneEvery), func() (river.JobArgs, *river.InsertOpts) {
			return queue.PruneArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true, ID: "prune"}),
		river.NewPeriodicJob(every(removeEvery), func() (river.JobArgs, *river.InsertOpts) {
			return queue.RemoveArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true, ID: "remove"}),
		river.NewPeriodicJob(every(archivesEvery), func() (river.JobArgs, *river.InsertOpts) {
			return queue.ArchivesArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true, ID: "archives"}),
		river.NewPeriodicJob(every(cleanupEvery), func() (river.JobArgs, *river.InsertOpts) {
			return queue.CleanupArgs{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true, ID: "cleanup"}),
	}
}

// every is robfig/cron's "@every" schedule, in whole seconds.
func every(d time.Duration) cron.Schedule { return cron.Every(d) }
