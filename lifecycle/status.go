package lifecycle

// Status is the public state of a cluster, one of six values.
type Status string

// The six public values of a cluster's status.
const (
	Pending    Status = "PENDING"
	Creating   Status = "CREATING"
	Ready      Status = "READY"
	Destroying Status = "DESTROYING"
	Destroyed  Status = "DESTROYED"
	Failed     Status = "FAILED"
)

// Phase is the finer step inside a status.
type Phase string

// The phases, in the order of a cluster's life.
const (
	Queued           Phase = "queued"
	AwaitingApproval Phase = "awaiting_approval"
	AwaitingCapacity Phase = "awaiting_capacity"

	Preflight   Phase = "preflight"
	Claiming    Phase = "claiming"
	Rendering   Phase = "rendering"
	Recording   Phase = "recording"
	Installing  Phase = "installing"
	Configuring Phase = "configuring"
	Cleaning    Phase = "cleaning"

	PhaseReady Phase = "ready"
	Degraded   Phase = "degraded"
	ScaledDown Phase = "scaled_down"
	Expiring   Phase = "expiring"

	GoingToSleep Phase = "going_to_sleep" // the four are of a ready cluster that cannot be used, and three of them of its attempts, too
	PhaseAsleep  Phase = "asleep"
	Waking       Phase = "waking"
	Preparing    Phase = "preparing" // for whoever claimed it from its pool; the same

	Stopping       Phase = "stopping"
	Restoring      Phase = "restoring"
	DestroyingRuns Phase = "destroying"
	Verifying      Phase = "verifying"

	Scaling   Phase = "scaling"   // phase of an attempt beside a ready cluster; no cluster shows it
	Accessing Phase = "accessing" // the same of an attempt that changes who has access
	Observing Phase = "observing" // … and of one that looks for people's requests
	Tagging   Phase = "tagging"   // … and of one that attaches tags
	Informing Phase = "informing" // … and of one that writes the identity card and reads links

	Released Phase = "released"

	CreateFailed   Phase = "create_failed"
	DestroyBlocked Phase = "destroy_blocked"
	Abandoned      Phase = "abandoned"
)

// Phases lists the phases that each status may show. A CHECK on the clusters table holds the same pairs.
var Phases = map[Status][]Phase{
	Pending:    {Queued, AwaitingApproval, AwaitingCapacity},
	Creating:   {Preflight, Claiming, Rendering, Recording, Installing, Configuring, Cleaning},
	Ready:      {PhaseReady, Degraded, ScaledDown, Expiring, GoingToSleep, PhaseAsleep, Waking, Preparing},
	Destroying: {Stopping, Restoring, DestroyingRuns, Verifying},
	Destroyed:  {Released},
	Failed:     {CreateFailed, DestroyBlocked, Abandoned},
}

// Desired is what the owner wants. It changes once, from present to absent; absent is final.
type Desired string

// The two desired states.
const (
	Present Desired = "present"
	Absent  Desired = "absent"
)

// JobType names a piece of work in the public job records.
type JobType string

// The job types that Decide starts and ends.
const (
	JobCreate         JobType = "CREATE"
	JobDestroy        JobType = "DESTROY"
	JobJanitorDestroy JobType = "JANITOR_DESTROY"
	JobScale          JobType = "SCALE_WORKERS"
	JobConfigure      JobType = "CONFIGURE"
	JobAccess         JobType = "ACCESS"
	JobSleep          JobType = "SLEEP"
	JobWake           JobType = "WAKE"
	JobObserve        JobType = "OBSERVE"
	JobTag            JobType = "TAG"
	JobInform         JobType = "INFORM"
	JobPrepare        JobType = "PREPARE"

	JobOffHoursDown JobType = "OFFHOURS_SCALE_DOWN" // a schedule puts a cluster to sleep
	JobOffHoursUp   JobType = "OFFHOURS_SCALE_UP"   // and wakes it
)

// JobStatus is the status of a job in the public job records.
type JobStatus string

// The job states.
const (
	JobPending   JobStatus = "PENDING"
	JobRunning   JobStatus = "RUNNING"
	JobRetrying  JobStatus = "RETRYING"
	JobSucceeded JobStatus = "SUCCEEDED"
	JobFailed    JobStatus = "FAILED"
)
