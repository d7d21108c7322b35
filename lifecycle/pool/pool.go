// Package pool decides what a pool of ready clusters needs: how many clusters are made, and which of those that nobody has claimed end, fall
// asleep or wake. It is pure, as lifecycle.Decide is: values in, acts out. It knows no clock, no database and no cloud, and it never touches a
// claimed cluster.
package pool

import "time"

// Pool is what a pool should be. Amounts below zero count as zero.
type Pool struct {
	Size          int           // clusters that nobody has claimed: ready, or being made
	Running       int           // of the ready ones, how many are awake if they can sleep
	Max           int           // all clusters, also claimed and ending ones
	MaxConcurrent int           // that are made at once, at least 1
	MaxAge        time.Duration // an unclaimed cluster ends at that age; zero: never
	Paused        bool          // nothing is made, and nothing ends because it is stale; what is ready can be claimed
	Draining      bool          // everything unclaimed ends, and nothing is made
	Closed        bool          // outside its hours: what is ready falls asleep if it can, otherwise it ends; nothing is made
	Digest        string        // of what clusters are made from now
	Sleeps        bool          // its clusters can sleep
	WaitingCents  *int64        // what waiting may cost in a calendar month (UTC), in US cents; nil: no limit
	MostFailures  int           // failed creates in a row after which creates pause; 0: 3
}

// State is where a cluster stands in its pool.
type State string

// The states. A cluster in any other state is left alone and counts as claimed.
const (
	Making   State = "making"
	Waiting  State = "waiting" // ready and awake
	Asleep   State = "asleep"
	Changing State = "changing" // falling asleep or waking
	Claimed  State = "claimed"
	Ending   State = "ending"
)

// Cluster is one cluster of a pool, until it is proven destroyed.
type Cluster struct {
	ID         string
	State      State
	Begun      bool // something that costs money may exist
	AcceptedAt time.Time
	ReadyAt    time.Time // zero: it was never ready
	Digest     string    // of what it was made from; another one than the pool's: it is stale
	Healthy    bool      // of a ready cluster: it can be used, as far as anybody knows
}

// Facts are what is known when Decide is asked.
type Facts struct {
	Now         time.Time
	Clusters    []Cluster
	SpentCents  int64     // this month, by clusters until they were claimed or began to end
	HourlyCents int64     // an hour of one cluster that is awake; 0: unknown
	Failures    int       // creates in a row that failed
	FailedAt    time.Time // the last of them
	Crowded     bool      // clusters of people wait for a runner or for capacity
}

// Acts are what to do. Creates count on the ends: whoever cannot carry out all of these makes nothing.
type Acts struct {
	Create      int
	End         []End
	Sleep, Wake []string  // ids
	LookAt      time.Time // when the answer may change by itself; zero: never
	Why         []Reason  // why less is made than wanted; empty: everything that is wanted is made
}

// End is a cluster that has to end.
type End struct {
	ID  string
	Why EndWhy
}

// Reason is why clusters are not made, or why one ends.
type Reason string

// EndWhy is a Reason of which a cluster ends.
type EndWhy = Reason

// The reasons of both.
const (
	Paused          Reason = "paused"
	Drained         Reason = "drained"
	Closed          Reason = "closed"            // outside the pool's hours
	YieldedToPeople Reason = "yielded_to_people" // they wait for a runner or for capacity
	OverBudget      Reason = "over_budget"
)

// The reasons for which only creates wait.
const (
	Failing Reason = "failing" // too many creates failed in a row; another one is tried by itself
	Full    Reason = "full"    // Max is reached
	Busy    Reason = "busy"    // MaxConcurrent is reached
)

// The reasons for which only clusters end.
const (
	Unhealthy EndWhy = "unhealthy"
	Aged      EndWhy = "aged" // it reached MaxAge, or will soon and can be replaced now
	Stale     EndWhy = "stale"
	Shrunk    EndWhy = "shrunk" // there are more than Size, or than Max leaves beside the claimed ones
)

// isUnclaimed reports whether the cluster counts for Size.
func (c Cluster) isUnclaimed() bool { return c.State == Making || c.isReady() }

// isReady reports whether the cluster was made and nobody has claimed it.
func (c Cluster) isReady() bool {
	return c.State == Waiting || c.State == Asleep || c.State == Changing
}

// isBegun reports whether ending the cluster takes a teardown.
func (c Cluster) isBegun() bool { return c.State != Making || c.Begun }
