package lifecycle

import "slices"

// WaitState is what jobs that wait for a cluster before they start are told of it.
type WaitState string

// The states. The last two decide: the jobs start, or fail.
const (
	WaitsForApproval WaitState = "approval" // somebody has to approve the cluster
	WaitsForTurn     WaitState = "turn"     // it waits for a full quota or for capacity
	WaitsForCluster  WaitState = "creating"
	WaitsForNextTry  WaitState = "next_try" // an attempt failed, and another one may follow
	WaitsForWaking   WaitState = "asleep"   // it is ready and asleep, or on its way
	WaitSucceeded    WaitState = "ready"
	WaitFailed       WaitState = "failed" // it never was ready and will not be, or it is going or gone
)

// WaitOf returns what jobs that wait for a cluster are told now. It follows from what a move changes.
func WaitOf(c Cluster) WaitState {
	switch {
	case c.AwaitsPreparing():
		return WaitsForCluster
	case slices.Contains([]Phase{GoingToSleep, PhaseAsleep, Waking}, c.Phase):
		return WaitsForWaking
	case c.Status == Ready:
		return WaitSucceeded
	case c.Status != Pending && c.Status != Creating:
		return WaitFailed
	case c.Phase == AwaitingApproval:
		return WaitsForApproval
	case c.Phase == AwaitingCapacity, c.Status == Pending && c.NeedsTurn:
		return WaitsForTurn
	case c.Phase == Cleaning:
		return WaitsForNextTry
	}
	return WaitsForCluster
}

// Decides reports whether the wait is over in that state.
func (s WaitState) Decides() bool { return s == WaitSucceeded || s == WaitFailed }

// WaitDecision is how a wait ended.
type WaitDecision string

// The decisions.
const (
	WaitApproved WaitDecision = "approved"
	WaitRejected WaitDecision = "rejected"
	WaitOver     WaitDecision = "over" // nothing waits any more: the run ended, or somebody else decided
)
