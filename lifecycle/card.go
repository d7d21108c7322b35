package lifecycle

import (
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
)

// Card is a cluster as people see it: what comments, messages, pages and the API's list are written from.
type Card struct {
	Cluster
	Name, Platform, Profile, Release, Region, BaseDomain string // Release is the OpenShift version
	Generation                                           int    // 1 for the first cluster of a pull request and profile
	ReplacedBy                                           string // name of the newest cluster of the same pull request and profile; empty: it is the newest itself
	Owner, Team, RequestedBy                             string // RequestedBy is a principal id
	TTL                                                  time.Duration
	AcceptedAt, DestroyAt, UpdatedAt                     time.Time
	WaitsSince                                           time.Time   // in line for its turn or for room; zero: it does not wait
	TurnETA                                              time.Time   // when its turn may come; zero: not known, or it waits for none
	HoldWhy                                              string      // why somebody put its end off; empty: nobody did
	Nodes                                                int         // machines at acceptance; 0: of before they were counted
	ListCents                                            int         // list price of an hour as it was accepted, US cents
	HourlyCents                                          int         // list price of an hour with the workers it has; at acceptance the same
	Meter                                                price.Meter // what it cost so far and will; see package price
	APIURL, ConsoleURL                                   string      // empty until a create succeeded
	JobID                                                string      // newest job
	Identities                                           []string    // every infraID and ccoctl name ever recorded, oldest first
}

// MachinesToCome is how many machines it has until its end: with the workers that somebody asked for, else those it has.
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
