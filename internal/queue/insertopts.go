package queue

import (
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// InsertOpts implements river.JobArgsWithInsertOpts.
func (CleanupArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueReconcile, 1) }

// InsertOpts implements river.JobArgsWithInsertOpts. The next round is a day later, so a failed one is tried again.
func (ArchivesArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueEffects, effectTries) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (RemoveArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueEffects, 1) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (InboxArgs) InsertOpts() river.InsertOpts {
	opts := uniqueOnce(QueueInbox, InboxTries)
	opts.Priority = InboxPriority
	return opts
}

// InsertOpts implements river.JobArgsWithInsertOpts.
func (ReconcileArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueReconcile, reconcileTries) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (LaunchArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueEffects, effectTries) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (StopArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueEffects, effectTries) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (PublishArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueMessages, messageTries) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (ReplyArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueMessages, messageTries) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (EffectArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueMessages, messageTries) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (AnnounceArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueMessages, messageTries) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (NoticeArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueMessages, messageTries) }

// InsertOpts implements river.JobArgsWithInsertOpts.
//
// A round whose end was never recorded must not hold up the next ones until River rescues it.
func (HomesArgs) InsertOpts() river.InsertOpts {
	opts := uniqueOnce(QueueMessages, 1)
	opts.UniqueOpts.ByPeriod = 10 * time.Second
	return opts
}

// InsertOpts implements river.JobArgsWithInsertOpts.
func (HomeArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueMessages, messageTries) }

// InsertOpts implements river.JobArgsWithInsertOpts. The next round is as good as a second try.
func (SubscriptionsArgs) InsertOpts() river.InsertOpts {
	opts := uniqueOnce(QueueEffects, 1)
	opts.UniqueOpts.ByPeriod = time.Minute
	return opts
}

// InsertOpts implements river.JobArgsWithInsertOpts. The next round is as good as a second try.
func (BudgetsArgs) InsertOpts() river.InsertOpts {
	opts := uniqueOnce(QueueEffects, 1)
	opts.UniqueOpts.ByPeriod = time.Minute
	return opts
}

// InsertOpts implements river.JobArgsWithInsertOpts. The next round is as good as a second try.
func (BillArgs) InsertOpts() river.InsertOpts {
	opts := uniqueOnce(QueueEffects, 3)
	opts.UniqueOpts.ByPeriod = time.Minute
	return opts
}

// InsertOpts implements river.JobArgsWithInsertOpts.
func (CapacityQueueArgs) InsertOpts() river.InsertOpts {
	return uniqueOnce(QueueReconcile, reconcileTries)
}

// InsertOpts implements river.JobArgsWithInsertOpts.
func (TurnsArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueReconcile, reconcileTries) }

// InsertOpts implements river.JobArgsWithInsertOpts.
//
// A job whose end was never recorded must not hold up the next ones until River rescues it.
func (WakeArgs) InsertOpts() river.InsertOpts {
	opts := uniqueOnce(QueueReconcile, 1)
	opts.UniqueOpts.ByPeriod = 10 * time.Second
	return opts
}

// InsertOpts implements river.JobArgsWithInsertOpts. The next round is as good as a second try.
func (BreakersArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueReconcile, 1) }

// InsertOpts implements river.JobArgsWithInsertOpts. The next round is as good as a second try.
func (PoolsArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueReconcile, 1) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (FindingsArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueReconcile, 1) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (WeeklyArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueMessages, 1) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (RunScansArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueReconcile, 1) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (LaunchScanArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueEffects, effectTries) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (JudgeScanArgs) InsertOpts() river.InsertOpts {
	return uniqueOnce(QueueReconcile, reconcileTries)
}

// InsertOpts implements river.JobArgsWithInsertOpts.
func (LookArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueInbox, 1) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (LookForLabelsArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueInbox, 1) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (LookAtRunsArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueInbox, 1) }

// InsertOpts implements river.JobArgsWithInsertOpts.
//
// Whoever needs the answer asks again, so a failed job is not tried again.
func (PullArgs) InsertOpts() river.InsertOpts {
	opts := uniqueOnce(QueueInbox, 1)
	opts.UniqueOpts.ByPeriod = 10 * time.Second
	return opts
}

// InsertOpts implements river.JobArgsWithInsertOpts.
func (MissedArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueInbox, 1) }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (PruneArgs) InsertOpts() river.InsertOpts { return uniqueOnce(QueueReconcile, 1) }

// How often River tries before it gives a job up. WakeDue enqueues unfinished work again, so none of these is final.
const (
	InboxTries     = 10
	reconcileTries = 5
	effectTries    = 5
	messageTries   = 10
)

// The priorities of deliveries: River takes the lowest number first. Slack opens a form within three seconds of a person's press, so such
// a delivery does not wait behind others.
const (
	UrgentPriority = 1
	InboxPriority  = 2
)

// uniqueOnce makes a job unique by its arguments until it ends: completed is left out, so that it can be enqueued again.
func uniqueOnce(queue string, tries int) river.InsertOpts {
	return river.InsertOpts{
		Queue:       queue,
		MaxAttempts: tries,
		UniqueOpts:  river.UniqueOpts{ByArgs: true, ByState: unfinished},
	}
}

// unfinished are the job states in which enqueuing again adds nothing.
var unfinished = []rivertype.JobState{
	rivertype.JobStateAvailable,
	rivertype.JobStatePending,
	rivertype.JobStateRunning,
	rivertype.JobStateRetryable,
	rivertype.JobStateScheduled,
}
