// Package attempts keeps what runners do: their attempts, leases, reports, logs, reservations of capacity and results.
package attempts

import (
	"context"

	"github.com/ocpctl/ocpctl/store/clusters"
)

// Store reads and writes the attempts of runners. It is safe for concurrent use.
type Store struct{ db *clusters.DB }

// New returns the part of a store that works on its database.
func New(d *clusters.DB) *Store { return &Store{d} }

// change is a transaction of this package.
type change struct{ *Tx }

// write runs one change.
func (s *Store) write(ctx context.Context, do func(*change) error) error {
	return Write(ctx, s.db, func(tx *Tx) error { return do(&change{tx}) })
}
