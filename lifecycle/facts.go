package lifecycle

import "time"

// Facts is what is known about a cluster besides its row, read at one moment.
type Facts struct {
	Now        time.Time     // the database's clock
	Open       *Attempt      // the open attempt; nil: none
	Last       *Attempt      // the newest closed attempt; nil: none was ever closed
	Missed     []Attempt     // closed attempts at work before it that no server accounted for, oldest first
	Runner     Sighting      // what the dispatcher reports about the open attempt's process or pod
	Trouble    Trouble       // why that does not start, or how it died; zero: nothing unusual is known
	Beside     []int         // other attempts whose runners are still alive, by number; asked before a runner is started
	Identities []string      // every infraID and ccoctl name ever recorded for the cluster
	Queue      QueuePosition // its position in the queue for capacity
	Turn       Turn          // its position in the queue for a full quota
	Slot       Slot          // whether a runner may start for it
	Brake      *Brake        // what keeps creates from beginning where it is to be created; nil: nothing
	Untagged   []Untagged    // what scans saw of it without its tags, by how often; nil: nothing
	Leaked     *Leak         // what is to be removed of it although it is released; nil: nothing
	Access     AccessWork    // what differs between who should have access to it and who has
	Hours      *Hours        // what the schedule of its profile or team says; nil: nobody looked, which decides nothing

	Described  string    // what its identity card says besides its end
	DeployedAt time.Time // when there was last something to deploy to it, or a run that may have done so was over; zero: never

	Profile, Team string // by which its schedule is found; no decision depends on them
}

// Turn is a cluster's position among those that wait for a full quota or a free runner.
type Turn struct {
	Position int       // 1 is next; 0: not waiting
	For      string    // which limit is full, as text
	ETA      time.Time // when its turn may come; zero: unknown
}

// QueuePosition is a cluster's position among those that wait for capacity in the same account and region.
type QueuePosition struct {
	Position int       // 1 is next; 0: not waiting
	For      string    // what it waits for, as text
	Since    time.Time // since when it waits
	AskedAt  time.Time // when it last asked for capacity
	Asked    int       // its position at that time
	FreedAt  time.Time // when capacity was last freed there; zero: never
	PassAt   time.Time // from when it may pass those before it that need more; zero: it is next, or passing is switched off
	Passed   string    // which cluster passed it last, and when, as text; empty: none
}

// text says what it waits for, without its position and the expected time: both change, and both are shown beside the reason.
func (t Turn) text() string {
	if t.For == "" {
		return "waiting in the queue"
	}
	return "waiting in the queue: " + t.For
}

// Kind is what an attempt tries to do.
type Kind string

// The kinds of attempt.
const (
	Create  Kind = "create"
	Destroy Kind = "destroy"
	Scale   Kind = "scale"
	// Configure applies a ready cluster's add-ons again.
	Configure Kind = "configure"
	// Access makes and revokes the access of people and programs to a ready cluster.
	Access Kind = "access"
	// Sleep puts a ready cluster to sleep, and Wake makes it usable again.
	Sleep Kind = "sleep"
	Wake  Kind = "wake"
	// Observe looks inside a ready cluster for people's requests.
	Observe Kind = "observe"
	// Tag attaches a ready cluster's tags to what was made without them.
	Tag Kind = "tag"
	// Inform writes a ready cluster's identity card into it, and reads which of its addresses are to be shown.
	Inform Kind = "inform"
	// Prepare makes a claimed cluster of a pool ready for whoever claimed it.
	Prepare Kind = "prepare"
)

// Attempt is one runner's try at a job. Attempt numbers rise per cluster, are never reused, and fence out older runners.
type Attempt struct {
	Number     int
	Kind       Kind
	OpenedAt   time.Time
	LaunchedAt time.Time // when the dispatcher confirmed the start; zero: not yet
	Refused    Trouble   // why the dispatcher last refused to start it; zero: it did not
	ClaimedAt  time.Time // lease of the claimed attempt; zero while unclaimed
	LeaseUntil time.Time // the claimed attempt's lease; zero while unclaimed
	Phase      Phase     // as last reported
	Progress   Progress
	Recorded   bool // a record was acknowledged: something may exist outside
	StopAsked  bool // every answer to the runner says stop

	ClosedAt     time.Time // zero while open
	Outcome      Outcome
	Reason       string // reason code of a failed attempt
	Message      string // the same as text
	Whose        string // whose problem a failure was
	Next         string // what to do about it
	Retryable    bool
	ToolExitedAt time.Time // when the destroyer's process ended; zero: unknown
	Passes       []Pass    // counts of a destroy attempt, oldest first

	WorkersWanted int   // of a scale attempt
	WorkersSeen   *int  // counted at the end of a scale attempt; nil: not counted
	Request       int   // number of the newest request for its work when it was opened
	AddonsSeen    *int  // create or configure attempt: number of add-ons seen at its end
	AsleepSeen    *bool // sleep or wake attempt: whether the cluster was seen asleep, or awake, at its end; nil: neither
}

// ControlPlaneIncomplete is the reason of a wake that succeeded although a machine of the control plane is missing. Its message says which.
const ControlPlaneIncomplete = "ControlPlaneIncomplete"

// wasStopped reports that ocpctl itself ended the attempt.
func (a Attempt) wasStopped() bool { return a.Outcome == Stopped || a.Outcome == Cancelled }

// Outcome is how an attempt ended.
type Outcome string

// The outcomes. Runners report Succeeded, Failure, Stopped and Waiting; the server sets Lost and Cancelled.
const (
	Succeeded Outcome = "succeeded"
	Failure   Outcome = "failed"
	Stopped   Outcome = "stopped"
	Waiting   Outcome = "waiting" // preflight found no capacity; nothing was begun
	Lost      Outcome = "lost"
	Cancelled Outcome = "cancelled" // closed before any runner claimed it
)

// Sighting is what is known about a runner. Unknown does not mean absent, and decides nothing.
type Sighting string

// The sightings.
const (
	Unknown    Sighting = ""        // the dispatcher could not be asked, or did not answer
	NotStarted Sighting = "absent"  // known never to have been started
	Alive      Sighting = "running" // seen running
	Ended      Sighting = "ended"   // was started, and has ended or is gone
)

// Trouble says what is wrong with a runner, with the fields of a failed attempt. The same trouble has the same text.
type Trouble struct{ Code, Message, Whose, Next string }

// Pass is one verification: ocpctl's own count of what is left, taken after the destroyer's process ended.
type Pass struct {
	At         time.Time
	Clean      bool      // everything was queried, the positive control succeeded, and the count was zero
	Identities []string  // the names that were searched for
	Leftovers  []Blocker // what was found or could not be queried
}
