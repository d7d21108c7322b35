// Package runs keeps the pipeline runs that asked for clusters: what is known of each run, which clusters end with it, and whose turn
// it is on a cluster that several runs share.
//
// It must never ask a platform anything: what it writes was said by a verified token, a signed webhook or the platform's API, and the
// caller says which. The end of a run's cluster is set and lifted here alone.
package runs

import (
	"context"

	"github.com/ocpctl/ocpctl/store/clusters"
)

// Store reads and writes runs. It is safe for concurrent use.
type Store struct{ db *clusters.DB }

// New returns the part of a store that works on its database.
func New(d *clusters.DB) *Store { return &Store{d} }

// change is a transaction of this package. Locks are taken in one order everywhere: the run's row, then the rows of clusters by their
// ids.
type change struct{ *clusters.Tx }

// write runs one change.
func (s *Store) write(ctx context.Context, do func(*change) error) error {
	return s.db.Write(ctx, func(tx *clusters.Tx) error { return do(&change{tx}) })
}
