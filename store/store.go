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

	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/costs"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/inbox"
	"github.com/ocpctl/ocpctl/store/measures"
	"github.com/ocpctl/ocpctl/store/notices"
	"github.com/ocpctl/ocpctl/store/outbox"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/reports"
	"github.com/ocpctl/ocpctl/store/runs"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/statistics"
	"github.com/ocpctl/ocpctl/store/testreports"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Store reads and writes clusters, requests, approvals and the audit trail; each of its parts does so for its own topic. All share
// one database. It is safe for concurrent use.
type Store struct {
	*clusters.DB
	Access       *access.Store
	Attempts     *attempts.Store
	Costs        *costs.Store
	Inbox        *inbox.Store
	Measures     *measures.Store
	Notices      *notices.Store
	Outbox       *outbox.Store
	People       *people.Store
	PullRequests *pullrequests.Store
	Reports      *reports.Store
	Runs         *runs.Store
	Statistics   *statistics.Store
	Scans        *scans.Store
	TestReports  *testreports.Store
	ended        ended
}

// Open connects to a migrated database.
func Open(ctx context.Context, url string, o db.Options) (*Store, error) {
	d, err := clusters.Open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	return &Store{
		DB: d, Access: access.New(d), Attempts: attempts.New(d), Costs: costs.New(d), Inbox: inbox.New(d), Measures: measures.New(d), Notices: notices.New(d), Outbox: outbox.New(d), People: people.New(d),
		PullRequests: pullrequests.New(d), Reports: reports.New(d), Runs: runs.New(d), Statistics: statistics.New(d), Scans: scans.New(d), TestReports: testreports.New(d),
	}, nil
}

// change is a transaction of this package.
type change struct{ *attempts.Tx }

// write runs one change.
func (s *Store) write(ctx context.Context, do func(*change) error) error {
	return attempts.Write(ctx, s.DB, func(tx *attempts.Tx) error { return do(&change{tx}) })
}

// writeAfter is write with statements that are sent together with the transaction's begin, see db.DB.WriteAfter.
func (s *Store) writeAfter(ctx context.Context, first func(*change, *db.Batch), do func(*change) error) error {
	of := func(tx *db.Tx) *change { return &change{&attempts.Tx{Tx: &clusters.Tx{Tx: usage.Tx{Tx: tx}}}} }
	return s.WriteAfter(ctx, func(tx *db.Tx, b *db.Batch) { first(of(tx), b) }, func(tx *db.Tx) error { return do(of(tx)) })
}

// changeSeen runs do on the locked cluster, see clusters.DB.ChangeSeen.
func (s *Store) changeSeen(ctx context.Context, id string, origin clusters.Origin, do func(*change, usage.Held, *clusters.Outcome) error) (clusters.Outcome, error) {
	return s.ChangeSeen(ctx, id, origin, func(tx *clusters.Tx, held usage.Held, out *clusters.Outcome) error {
		return do(&change{&attempts.Tx{Tx: tx}}, held, out)
	})
}

// changeOnce runs do on the locked cluster, see clusters.DB.ChangeOnce.
func (s *Store) changeOnce(ctx context.Context, id string, origin clusters.Origin, do func(*change, usage.Held, *clusters.Outcome) error) (clusters.Outcome, error) {
	return s.ChangeOnce(ctx, id, origin, func(tx *clusters.Tx, held usage.Held, out *clusters.Outcome) error {
		return do(&change{&attempts.Tx{Tx: tx}}, held, out)
	})
}
