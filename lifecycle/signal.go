package lifecycle

import "time"

// SignalKind is how a pipeline is told that a cluster is ready or failed.
type SignalKind string

// The kinds.
const (
	SignalDeployment SignalKind = "deployment" // a deployment of the run's commit, whose status changes
	SignalDispatch   SignalKind = "dispatch"   // a repository_dispatch
)

// SignalState is what a pipeline is told of a cluster.
type SignalState string

// The states.
const (
	SignalBegun  SignalState = "begun"  // it is not ready yet
	SignalReady  SignalState = "ready"  // it can be used
	SignalFailed SignalState = "failed" // it never was ready, and will not be
	SignalEnded  SignalState = "ended"  // it was ready, and is going or gone
)

// Signal is a pipeline's request to be told, as people see it.
type Signal struct {
	Kind    SignalKind  // empty: nobody asked
	Told    SignalState // what was told last; empty: nothing yet
	Problem string      // why it could not be told; empty: nothing is wrong
}

// SignalOf returns what a pipeline is told of a cluster now.
func SignalOf(c Cluster) SignalState {
	switch {
	case c.AwaitsPreparing():
		return SignalBegun
	case c.Status == Ready:
		return SignalReady
	case c.Status == Pending || c.Status == Creating:
		return SignalBegun
	case c.ReadyAt.IsZero():
		return SignalFailed
	}
	return SignalEnded
}

// SavedTime returns for how long no runner of a pipeline waited for the cluster to become ready; 0: it is not ready, or one waited.
func (c Card) SavedTime() time.Duration {
	if c.FreeSince.IsZero() || c.ReadyAt.IsZero() {
		return 0
	}
	return max(0, c.ReadyAt.Sub(c.FreeSince))
}

// handoverEnd returns the end of a cluster that its run left to the run which its signal starts, as long as none took it over.
func (b Bound) handoverEnd() (at time.Time, why Reason) {
	if b.ReadyAt.IsZero() {
		return time.Time{}, Reason{}
	}
	at = b.Run.At
	if b.ReadyAt.After(at) {
		at = b.ReadyAt
	}
	return at.Add(b.Grace), Reason{Code: ReasonNotTakenOver}
}
