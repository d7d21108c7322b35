package queue

// The queues. Each has its own workers, so that slow posts never hold up reconciles.
const (
	QueueInbox     = "inbox"
	QueueReconcile = "reconcile"
	QueueEffects   = "effects"
	QueueMessages  = "messages"
)

// InboxArgs asks to process one stored delivery.
type InboxArgs struct {
	Row int64 `json:"row"`
}

// ReconcileArgs asks to reconcile one cluster. Pokes gives a fact that arrives during a run a run of its own: the number of facts so
// far, or a negative number that is used once.
type ReconcileArgs struct {
	Cluster string `json:"cluster"`
	Pokes   int64  `json:"pokes"`
}

// LaunchArgs asks to ensure that an attempt's runner is started.
type LaunchArgs struct {
	Cluster string `json:"cluster"`
	Attempt int    `json:"attempt"`
}

// StopArgs asks to ensure that an attempt's runner is told to stop.
type StopArgs struct {
	Cluster string `json:"cluster"`
	Attempt int    `json:"attempt"`
}

// PublishArgs asks to bring one subscriber, or all of one cluster, up to the cluster's current version. Version gives a change during a
// run a run of its own: a job unique by the subscriber alone would swallow it until River has recorded the end of the run.
type PublishArgs struct {
	Subscriber string `json:"subscriber"` // empty: all of the cluster
	Cluster    string `json:"cluster,omitempty"`
	Version    int64  `json:"version"`
}

// ReplyArgs asks to post one reply.
type ReplyArgs struct {
	Reply string `json:"reply"`
}

// EffectArgs asks to make one change on GitHub.
type EffectArgs struct {
	Effect string `json:"effect"`
}

// AnnounceArgs asks to find out who hears of something that happened.
type AnnounceArgs struct {
	Cause string `json:"cause"`
}

// NoticeArgs asks to post one notice in Slack, or to bring it up to date. Version gives a change during a run a run of its own.
type NoticeArgs struct {
	Notice  string `json:"notice"`
	Version int    `json:"version"`
}

// HomesArgs asks to find the Homes in Slack that show a cluster which changed.
type HomesArgs struct{}

// HomeArgs asks to show a person's Home in Slack again.
type HomeArgs struct {
	Workspace string `json:"workspace"`
	Person    string `json:"person"`
}

// SubscriptionsArgs asks to judge the subscriptions of channels in Slack again.
type SubscriptionsArgs struct{}

// BudgetsArgs asks to find the budgets that were reached by time alone.
type BudgetsArgs struct{}

// BillArgs asks to read what the cloud billed.
type BillArgs struct{}

// CapacityQueueArgs asks to reconcile the clusters that wait for capacity. News gives a change during a run a run of its own.
type CapacityQueueArgs struct {
	Account string `json:"account"`
	Region  string `json:"region"`
	News    string `json:"news"`
}

// TurnsArgs asks for one pass over the queues for full quotas and for free runners. News gives a change during a pass a pass of its own.
type TurnsArgs struct {
	News string `json:"news"`
}

// BreakersArgs asks to look how creates went, and whether others wait for that.
type BreakersArgs struct{}

// PoolsArgs asks to look what pools of clusters need.
type PoolsArgs struct{}

// WakeArgs asks for one round of WakeDue.
type WakeArgs struct{}

// FindingsArgs asks for one look over all clusters and resources.
type FindingsArgs struct{}

// WeeklyArgs asks to have the weekly report posted if it is due.
type WeeklyArgs struct{}

// RunScansArgs asks for one round over the scans of cloud accounts: open those that are due, and see to the one whose turn it is. News
// gives a change during a round a round of its own.
type RunScansArgs struct {
	News string `json:"news"`
}

// LaunchScanArgs asks to ensure that a scan's runner is started.
type LaunchScanArgs struct {
	Scan   string `json:"scan"`
	Runner int    `json:"runner"`
}

// JudgeScanArgs asks to compare what a scan saw with what is known.
type JudgeScanArgs struct {
	Scan string `json:"scan"`
}

// LookArgs asks to check on GitHub the pull requests that were not checked for a while.
type LookArgs struct{}

// LookForLabelsArgs asks to look on GitHub for labels that ask for a cluster and have none.
type LookForLabelsArgs struct{}

// LookAtRunsArgs asks to check the pipeline runs that were not checked for a while.
type LookAtRunsArgs struct{}

// PullArgs asks GitHub about a pull request of which nothing is known.
type PullArgs struct {
	Repo   string `json:"repo"`
	Number int    `json:"number"`
}

// MissedArgs asks to read GitHub's list of sent webhooks and find those that never arrived.
type MissedArgs struct{}

// PruneArgs asks to remove old rows.
type PruneArgs struct{}

// CleanupArgs asks to begin the approved removals of orphans. News gives a change during a round a round of its own.
type CleanupArgs struct {
	News string `json:"news"`
}

// ArchivesArgs asks to look in the bucket for clusters that the database does not know.
type ArchivesArgs struct{}

// RemoveArgs asks for one round of removals that are due. News gives the end of a cluster during a round a round of its own.
type RemoveArgs struct {
	News string `json:"news"`
}

// Kind implements river.JobArgs.
func (InboxArgs) Kind() string { return "inbox" }

// Kind implements river.JobArgs.
func (ReconcileArgs) Kind() string { return "reconcile" }

// Kind implements river.JobArgs.
func (LaunchArgs) Kind() string { return "launch" }

// Kind implements river.JobArgs.
func (StopArgs) Kind() string { return "stop" }

// Kind implements river.JobArgs.
func (PublishArgs) Kind() string { return "publish" }

// Kind implements river.JobArgs.
func (ReplyArgs) Kind() string { return "reply" }

// Kind implements river.JobArgs.
func (EffectArgs) Kind() string { return "effect" }

// Kind implements river.JobArgs.
func (AnnounceArgs) Kind() string { return "announce" }

// Kind implements river.JobArgs.
func (NoticeArgs) Kind() string { return "notice" }

// Kind implements river.JobArgs.
func (HomesArgs) Kind() string { return "homes" }

// Kind implements river.JobArgs.
func (HomeArgs) Kind() string { return "home" }

// Kind implements river.JobArgs.
func (SubscriptionsArgs) Kind() string { return "subscriptions" }

// Kind implements river.JobArgs.
func (BudgetsArgs) Kind() string { return "budgets" }

// Kind implements river.JobArgs.
func (BillArgs) Kind() string { return "bill" }

// Kind implements river.JobArgs.
func (CapacityQueueArgs) Kind() string { return "capacity_queue" }

// Kind implements river.JobArgs.
func (TurnsArgs) Kind() string { return "turns" }

// Kind implements river.JobArgs.
func (BreakersArgs) Kind() string { return "breakers" }

// Kind implements river.JobArgs.
func (PoolsArgs) Kind() string { return "pools" }

// Kind implements river.JobArgs.
func (WakeArgs) Kind() string { return "wake" }

// Kind implements river.JobArgs.
func (FindingsArgs) Kind() string { return "findings" }

// Kind implements river.JobArgs.
func (WeeklyArgs) Kind() string { return "weekly" }

// Kind implements river.JobArgs.
func (RunScansArgs) Kind() string { return "run_scans" }

// Kind implements river.JobArgs.
func (LaunchScanArgs) Kind() string { return "launch_scan" }

// Kind implements river.JobArgs.
func (JudgeScanArgs) Kind() string { return "judge_scan" }

// Kind implements river.JobArgs.
func (LookArgs) Kind() string { return "look" }

// Kind implements river.JobArgs.
func (LookForLabelsArgs) Kind() string { return "look_for_labels" }

// Kind implements river.JobArgs.
func (LookAtRunsArgs) Kind() string { return "look_at_runs" }

// Kind implements river.JobArgs.
func (PullArgs) Kind() string { return "pull" }

// Kind implements river.JobArgs.
func (MissedArgs) Kind() string { return "missed" }

// Kind implements river.JobArgs.
func (PruneArgs) Kind() string { return "prune" }

// Kind implements river.JobArgs.
func (CleanupArgs) Kind() string { return "cleanup" }

// Kind implements river.JobArgs.
func (ArchivesArgs) Kind() string { return "archives" }

// Kind implements river.JobArgs.
func (RemoveArgs) Kind() string { return "remove" }
