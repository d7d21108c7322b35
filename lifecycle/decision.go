package lifecycle

import "time"

// Limits are the settings that Decide uses. All are configuration. Zero has no special meaning, except for LetPast and Runners.
type Limits struct {
	LaunchPatience time.Duration // how long an attempt may stay unclaimed before it is closed
	LeaseGrace     time.Duration // added to a lease before a silent runner counts as gone
	LookAgain      time.Duration // how soon to decide again while something runs; four times that while a runner was seen at work
	RetryBase      time.Duration // first wait after a failed attempt; doubles with each failure
	RetryMax       time.Duration // longest wait between two teardown attempts: 24 h
	BlockAfter     int           // failed teardowns in a row before the cluster is shown as blocked
	VerifyGap      time.Duration // least time between the two clean counts
	LetPast        time.Duration // how long the front of the queue for capacity may hold up clusters that need less; zero: without limit
	Runners        RunnerCaps    // how many runners run at once
	UsageHalfLife  time.Duration // what a team used so long ago counts half when usage decides among equals who wait; zero: it decides nothing
	More           []WorkKind    // kinds of work besides those of this release
	InformEvery    time.Duration // the longest time between two looks for links in a cluster; zero: clusters have neither an identity card nor links
	WarnBefore     time.Duration // a READY cluster that has no times of its own is shown as expiring this long before its end
}

// Decision is what should happen next to one cluster. Applying it twice has the same effect as applying it once.
type Decision struct {
	Next    Cluster     // the row to store
	Close   *Closing    // the open attempt to close, fencing its runner
	Open    Kind        // open an attempt of this kind; empty: open none
	OpenJob JobType     // the job the opened attempt belongs to
	Request int         // number of the newest request for the opened attempt's work
	Workers *int        // how many workers the opened attempt is to reach; nil: it does not scale
	Spot    bool        // the opened create orders its workers as spot machines
	Quiet   bool        // the opened attempt takes little time, and the cluster shows nothing of it
	Wait    *RunnerWait // what the cluster waits for a free runner for; nil: it does not wait
	StopNow bool        // every answer to the open attempt's runner says stop from now on
	StopWhy string      // why, while StopNow
	Jobs    []JobMove   // changes of the public job records, in this order
	Effects []Effect    // what to bring about outside, repeated until the facts show it done

	Warn time.Duration // warn the cluster's people: this much or less is left until its end; zero: no warning

	WarnRest bool // warn them that a schedule puts it to sleep at Next.RestWarned
	TellIdle bool // tell them that nobody uses it, and what happens if that stays so

	Unobserved bool // with TellIdle: nobody could look inside it for people's requests, so perhaps somebody does use it
}

// Closing describes how the server closes an attempt.
type Closing struct {
	Number  int
	Lease   time.Time // the attempt's lease at decision time; an attempt claimed or renewed since must not be closed
	Outcome Outcome   // Lost or Cancelled
	Message string
	Reason  string // code of what was wrong with the runner, whose problem that was, and what to do about it; empty: unknown
	Whose   string
	Next    string
}

// JobMove sets the status of the newest unfinished job of a type. If none is unfinished, PENDING, RUNNING and RETRYING add one first,
// and SUCCEEDED and FAILED change nothing.
type JobMove struct {
	Type          JobType
	To            JobStatus
	Code, Message string // for FAILED and RETRYING
}

// EffectKind names an effect.
type EffectKind string

// The effects. Both are keyed by cluster and attempt number, so repeating them has no further effect.
const (
	Launch     EffectKind = "launch"
	StopRunner EffectKind = "stop"
)

// Effect is something to bring about outside the database.
type Effect struct {
	Kind    EffectKind
	Attempt int // number of the open attempt, or of the one that this decision opens
}
