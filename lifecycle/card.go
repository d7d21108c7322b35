package lifecycle

import (
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
)

// Card is a cluster as people see it. Comments, messages, pages and the API's list are rendered from it.
type Card struct {
	Cluster
	Name, Platform, Profile, Release, Region, BaseDomain string // Release is the OpenShift version
	Generation                                           int    // 1 for the first cluster of a pull request and profile
	ReplacedBy                                           string // name of the newest cluster of the same pull request and profile, or that was requested again in its place; empty: there is none
	Owner, Team, RequestedBy                             string // RequestedBy is a principal id
	TTL                                                  time.Duration
	AcceptedAt, DestroyAt, UpdatedAt                     time.Time
	WaitsSince                                           time.Time     // since when it waits for its turn, for cloud capacity or for a free runner; zero: it does not wait
	TurnETA                                              time.Time     // when its turn for a quota or a runner may come; zero: unknown, or it waits for neither
	HoldWhy                                              string        // why somebody postponed its end; empty: nobody did
	Nodes                                                int           // machines at acceptance; 0: accepted before they were counted
	ListCents                                            int           // list price per hour with the workers that it was accepted with, US cents
	HourlyCents                                          int           // list price per hour with its current workers, US cents; at acceptance equal to ListCents
	AsleepCents                                          int           // the same while it is asleep
	SpotSaves                                            int           // what an hour costs less than without spot machines, US cents; 0: its workers are none
	Meter                                                price.Meter   // cost so far and still to come; see package price
	APIURL, ConsoleURL                                   string        // empty until a create has succeeded
	Links                                                []Link        // addresses of what runs in it, as last seen
	JobID                                                string        // newest job
	Run                                                  Run           // that it belongs to; without an id: none
	Signal                                               Signal        // the newest that a pipeline asked for; without a kind: none. Not read for lists
	FreeSince                                            time.Time     // since when a pipeline wants it without waiting; zero: none does. Not read for lists
	ClaimedAt                                            time.Time     // zero: it was not claimed from a pool
	WaitSpared                                           time.Duration // how long its install took before it was claimed
	Identities                                           []string      // every infraID and ccoctl name ever recorded, oldest first
}

// AwakeCents returns what an hour costs, or would cost, while it is awake.
func (c Card) AwakeCents() int {
	if c.Power == Asleep {
		return c.HourlyCents + c.Meter.LessNow
	}
	return c.HourlyCents
}

// MachinesToCome returns the number of machines it has until its end: with the requested number of workers if there is one, otherwise
// with the current number.
func (c Card) MachinesToCome() int {
	base, workers := 0, 0
	if c.WorkersBase != nil {
		base = *c.WorkersBase
	}
	switch {
	case c.WorkersWanted != nil:
		workers = *c.WorkersWanted
	case c.Workers != nil:
		workers = *c.Workers
	default:
		workers = base
	}
	return price.Machines(c.Nodes, base, workers)
}

// End returns when the cluster ends as things stand.
func (c Card) End() time.Time {
	if at := c.Ends.DestroyAt(); !at.IsZero() {
		return at
	}
	return c.DestroyAt
}

// WaitsInPool reports that nobody has claimed the cluster from its pool yet, and that somebody may.
func (c Card) WaitsInPool() bool { return c.Pooled && c.Desired == Present }

// NeverReady reports that it failed before it was ready, and that people need not expect more.
func (c Card) NeverReady() bool {
	over := c.Status == Destroyed || c.Phase == CreateFailed
	dismissed := c.FailReason == string(Stopped) || c.FailReason == string(Cancelled)
	return over && c.ReadyAt.IsZero() && c.FailReason != "" && !dismissed
}

// FailureShown is how long an install that failed and was cleaned up is listed among the live clusters.
const FailureShown = 24 * time.Hour

// CleanedUp reports that its install failed and nothing of it is left.
func (c Cluster) CleanedUp() bool {
	return c.Status == Destroyed && c.DesiredWhy.Code == ReasonInstallFailed
}

// WasReplaced reports whether a newer cluster is in its place, of the same pull request and profile or requested again.
func (c Card) WasReplaced() bool { return c.ReplacedBy != "" && c.Desired == Absent }

// TearsDown reports whether something of the cluster waits to be torn down.
func (c Cluster) TearsDown() bool {
	return c.Status == Failed || c.Status == Destroying || c.Phase == Cleaning
}
