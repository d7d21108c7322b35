package lifecycle

import "time"

// Limits are the settings Decide works with. All are configuration; none has a meaning of zero.
type Limits struct {
	LaunchPatience time.Duration // how long an attempt may stay unclaimed before it is given up
	LeaseGrace     time.Duration // added to a lease before a silent runner counts as gone
	LookAgain      time.Duration // how soon to look again while something runs
	RetryBase      time.Duration // first wait after a failed attempt; doubles each time
	RetryMax       time.Duration // the longest wait between two teardown attempts: 24 h
	BlockAfter     int           // failed teardowns in a row before a person is told
	VerifyGap      time.Duration // least time between the two clean passes
	LetPast        time.Duration // how long the front of the line for room may hold up what needs less; zero: without an end
	WarnBefore     time.Duration // a READY cluster is "expiring" this long before its end
}

// Decision is what should happen next to one cluster. Applying the same decision twice changes nothing more.
type Decision struct {
	Next    Cluster   // the row to store
	Close   *Closing  // the open attempt to close, fencing its runner
	Open    Kind      // open an attempt of this kind; empty: none
	OpenJob JobType   // the job the opened attempt belongs to
	StopNow bool      // from now on every answer to the open attempt's runner says stop
	StopWhy string    // why, while StopNow
	Jobs    []JobMove // moves in the public record, in this order
	Effects []Effect  // what to ensure outside, as long as the facts do not show it done
}

// Closing says how the server closes an attempt itself.
type Closing struct {
	Number  int
	Lease   time.Time // the attempt's lease when it was decided; one claimed or heard of since must not be closed by it
	Outcome Outcome   // Lost or Cancelled
	Message string
}

// JobMove sets the newest unfinished job of a type to a status. Where none is unfinished, PENDING, RUNNING and RETRYING
// add one first, and SUCCEEDED and FAILED change nothing.
type JobMove struct {
	Type          JobType
	To            JobStatus
	Code, Message string // for FAILED and RETRYING
}

// EffectKind names an ensure.
type EffectKind string

// The effects. Both are keyed by cluster and attempt number: asking twice is asking once.
const (
	Launch     EffectKind = "launch"
	StopRunner EffectKind = "stop"
)

// Effect is something outside that must come to be.
type Effect struct {
	Kind    EffectKind
	Attempt int // the number of the open attempt, or of the one this decision opens
}
