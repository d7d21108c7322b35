package lifecycle

import "time"

// Facts is what is known about one cluster beside its row, read at one moment.
type Facts struct {
	Now        time.Time // the database's clock
	Open       *Attempt  // the open attempt; nil: none
	Last       *Attempt  // the newest closed attempt; nil: none was ever closed
	Runner     Sighting  // what the dispatcher says of the open attempt's process or pod
	Identities []string  // every infraID and ccoctl name ever recorded for the cluster
	Line       Line      // where it stands among those that wait for room
	Turn       Turn      // where it stands among those that wait for a full quota
}

// Turn is a cluster's place among those that wait for a full quota.
type Turn struct {
	Place int       // 1 is next; 0: it does not wait
	For   string    // which limit is full, in words
	ETA   time.Time // when its turn may come; zero: not known
}

// Line is a cluster's place among those that wait for room in the same account and region.
type Line struct {
	Place   int       // 1 is next; 0: it does not wait
	For     string    // what it waits for, in words
	Since   time.Time // since when it waits
	AskedAt time.Time // when it last asked for room
	Asked   int       // its place then
	FreedAt time.Time // when room last came free there; zero: never
	PassAt  time.Time // from when it may be let past those before it that need more; zero: it is next, or nobody is ever let past
	Passed  string    // who was let past it last, and when, in words; empty: nobody
}

// words say what it waits for. Its place is shown beside it, and when its turn may come is too: neither stands in a reason.
func (t Turn) words() string {
	if t.For == "" {
		return "waiting for its turn"
	}
	return "waiting for its turn: " + t.For
}

// Kind says what an attempt tries.
type Kind string

// The kinds of attempt.
const (
	Create  Kind = "create"
	Destroy Kind = "destroy"
	Scale   Kind = "scale"
	// Configure brings a ready cluster's add-ons anew.
	Configure Kind = "configure"
)

// words are the kind as it is spoken of.
func (k Kind) words() string {
	switch k {
	case Scale:
		return "scaling"
	case Configure:
		return "refresh"
	}
	return "install"
}

// Attempt is one runner's try at a job. Its number rises per cluster, never returns, and is the fence.
type Attempt struct {
	Number     int
	Kind       Kind
	OpenedAt   time.Time
	ClaimedAt  time.Time // zero: no runner claimed it yet
	LeaseUntil time.Time // the claimed attempt's lease; zero while unclaimed
	Phase      Phase     // as last reported
	Progress   Progress
	Recorded   bool // a record was acknowledged: something may exist outside
	StopAsked  bool // every answer to the runner says stop

	ClosedAt     time.Time // zero while open
	Outcome      Outcome
	Reason       string // one word, for a failed attempt
	Message      string // the same in words
	Whose        string // whose problem a failure was
	Next         string // what to do about it
	Retryable    bool
	ToolExitedAt time.Time // when the destroyer's process ended; zero: not known
	Passes       []Pass    // verification passes of a destroy attempt, oldest first

	WorkersWanted int  // of a scale attempt
	WorkersSeen   *int // of a scale attempt that counted them at its end
	AddonsWanted  int  // of a configure attempt: the number of the wish it meets
	AddonsSeen    *int // of a create or configure attempt: how many add-ons it saw there at its end
}

// Outcome is how an attempt ended.
type Outcome string

// The outcomes. Succeeded, Failed, Stopped and Waiting are a runner's own words; Lost and Cancelled are the server's.
const (
	Succeeded Outcome = "succeeded"
	Failure   Outcome = "failed"
	Stopped   Outcome = "stopped"
	Waiting   Outcome = "waiting" // preflight found no room; nothing was begun
	Lost      Outcome = "lost"
	Cancelled Outcome = "cancelled" // closed before any runner claimed it
)

// Sighting is what is known of a runner. Unknown is not absent: it decides nothing.
type Sighting string

// The sightings.
const (
	Unknown    Sighting = ""        // the dispatcher could not be asked, or did not answer
	NotStarted Sighting = "absent"  // never started, and seen so
	Alive      Sighting = "running" // seen running
	Ended      Sighting = "ended"   // was started and is seen ended, or is gone
)

// Pass is one verification: our own count of what is left, taken after the destroyer's process ended.
type Pass struct {
	At         time.Time
	Clean      bool     // everything that had to be asked was asked, the positive control held, and the count was zero
	Identities []string // the names it looked for
	Leftovers  []string // what was found, or what could not be asked, in words
}
