package pulls

import (
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// act is one thing to do about a pull request, as decide returns it and perform carries it out. The set is closed: each kind is
// declared in this file.
type act interface{ isAct() }

// The acts that make clusters follow the state of their pull request.
type (
	// moveInstallation moves the repository's rows to the App's installation that now reaches it.
	moveInstallation struct{}

	// setEnd sets a reversible end of a cluster.
	setEnd struct {
		row  clusters.Row
		kind clusters.EndKind
		at   time.Time
		why  lifecycle.Reason
	}

	// liftEnd lifts a reversible end of a cluster. was is why it had been set, as the note says it.
	liftEnd struct {
		row  clusters.Row
		kind clusters.EndKind
		was  lifecycle.Reason
		why  string // what is true now; empty: the reason for the end is gone
	}

	// rebindApproval voids an approval of an older commit and asks for one of the newest.
	rebindApproval struct{ row clusters.Row }

	// restoreLabel puts back a label that we removed although a cluster was requested by it.
	restoreLabel struct {
		label string
		row   clusters.Row
	}

	// liftHold lifts a hold that a label set.
	liftHold struct {
		row clusters.Row
		why string
	}
)

// The acts that do what people ask for by a label or a push.
type (
	// followHead moves the clusters' checks to the newest commit.
	followHead struct{}

	// remark does nothing; the note says why.
	remark struct{ note string }

	// useCluster notes that a cluster is used, which wakes it if a schedule put it to sleep.
	useCluster struct{ row clusters.Row }
	// refreshAddons applies the add-ons of a cluster again after a push.
	refreshAddons struct {
		row clusters.Row
		why string
	}

	// replaceCluster requests a cluster's successor after a push.
	replaceCluster struct {
		row     clusters.Row
		destroy bool // false: it was ended for this push before
		why     lifecycle.Reason
	}

	// requestCluster requests a cluster for a label.
	requestCluster struct {
		label, profile string
		generation     int
	}

	// showByLabel ties a label to a cluster that was not requested by one, so that it does not outlast the cluster.
	showByLabel struct{ row clusters.Row }

	// holdCreated holds a cluster that this event created before the process died.
	holdCreated struct{ row clusters.Row }

	// rejectLabel removes a label that can never mean anything, and tells whoever added it why.
	rejectLabel struct{ label, note, why string }

	// removeLabel removes a label that nobody asked for anything by. reply is posted; empty: none.
	removeLabel struct{ label, cause, note, reply string }

	// extendClusters extends clusters to the lifetime in a label.
	extendClusters struct {
		label string
		ttl   time.Duration
		rows  []clusters.Row
	}

	// holdClusters holds clusters because of a label.
	holdClusters struct{ rows []clusters.Row }

	// recheckEnds reads the pull request again, after a request was stored.
	recheckEnds struct{}

	// checkFile asks for a check of the pull request's version of the repository's file.
	checkFile struct{}
	// checkCatalogue asks for a check of what the pull request would change about the catalogue.
	checkCatalogue struct{}

	// tryAgain ends with the error of a fact that could not be read. The acts before it need no such fact.
	tryAgain struct{ err error }
)

func (moveInstallation) isAct() {}
func (setEnd) isAct()           {}
func (liftEnd) isAct()          {}
func (rebindApproval) isAct()   {}
func (restoreLabel) isAct()     {}
func (liftHold) isAct()         {}
func (followHead) isAct()       {}
func (remark) isAct()           {}
func (useCluster) isAct()       {}
func (refreshAddons) isAct()    {}
func (replaceCluster) isAct()   {}
func (requestCluster) isAct()   {}
func (showByLabel) isAct()      {}
func (holdCreated) isAct()      {}
func (rejectLabel) isAct()      {}
func (removeLabel) isAct()      {}
func (extendClusters) isAct()   {}
func (holdClusters) isAct()     {}
func (recheckEnds) isAct()      {}
func (checkFile) isAct()        {}
func (checkCatalogue) isAct()   {}
func (tryAgain) isAct()         {}

func isPresent(r clusters.Row) bool { return r.Desired == lifecycle.Present }
