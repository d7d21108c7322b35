// Package store keeps all of the control plane's state in PostgreSQL, and the jobs that connect its parts.
//
// This package and those below it are the only ones with SQL. Every change of a fact or of the desired state writes everything that belongs to it in one
// transaction: the row, the audit line, the counter that names the next reconcile, and River's jobs; a crash leaves all of
// it or nothing. The store never decides what should happen to a cluster: lifecycle.Decide does, and Apply and Record write its
// decisions. Nor does it decide who may have one: Judge counts usage under locks and lets the caller judge it, and Turns writes
// whose turn lifecycle.Take chose. It holds no secret.
package store

import (
	"context"
	"sync/atomic"

	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/brakes"
	"github.com/ocpctl/ocpctl/store/costs"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/measures"
	"github.com/ocpctl/ocpctl/store/notices"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/pools"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/statistics"
	"github.com/ocpctl/ocpctl/store/testreports"
)

// Store reads and writes clusters, requests, approvals and the audit trail; each of its parts does so for its own topic. All share
// one database. It is safe for concurrent use.
type Store struct {
	*db.DB
	Access       *access.Store
	Attempts     *attempts.Store
	Brakes       *brakes.Store
	Costs        *costs.Store
	Inbox        *inbox.Store
	Measures     *measures.Store
	Notices      *notices.Store
	Outbox       *outbox.Store
	Pools        *pools.Store
	People       *people.Store
	PullRequests *pullrequests.Store
	Reports      *reports.Store
	Runs         *runs.Store
	Statistics   *statistics.Store
	Scans        *scans.Store
	TestReports  *testreports.Store
	ended        ended
	room         recentRoom
	group        *group
	dead         atomic.Int64 // folded changes of usage since the last vacuum
}

// Open connects to a migrated database.
func Open(ctx context.Context, url string, o db.Options) (*Store, error) {
	d, err := db.Open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	s := &Store{
		DB: d, Access: access.New(d), Attempts: attempts.New(d), Brakes: brakes.New(d), Costs: costs.New(d), Inbox: inbox.New(d), Measures: measures.New(d), Notices: notices.New(d), Outbox: outbox.New(d), People: people.New(d), Pools: pools.New(d),
		PullRequests: pullrequests.New(d), Reports: reports.New(d), Runs: runs.New(d), Statistics: statistics.New(d), Scans: scans.New(d), TestReports: testreports.New(d),
	}
	s.group = &group{store: s}
	return s, nil
}
