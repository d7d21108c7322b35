// Package attempts keeps what runners do: their attempts, leases, reports, logs, reservations of capacity and results.
package attempts

import (
	"context"

	"github.com/ocpctl/ocpctl/store/internal/fence"
	"github.com/ocpctl/ocpctl/store/internal/rows"
)

// Store reads and writes the attempts of runners. It is safe for concurrent use.
type Store struct{ db *rows.DB }

// New returns the part of a store that works on its database.
func New(d *rows.DB) *Store { return &Store{d} }

// change is a transaction of this package.
type change struct{ *fence.Tx }

// write runs one change.
func (s *Store) write(ctx context.Context, do func(*change) error) error {
	return fence.Write(ctx, s.db, func(tx *fence.Tx) error { return do(&change{tx}) })
}
