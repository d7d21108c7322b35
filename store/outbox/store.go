// Package outbox keeps what is to be written outside, until it is done: replies, effects on GitHub, the places that show a
// cluster, and the pace at which GitHub lets us write.
package outbox

import (
	"context"

	"github.com/ocpctl/ocpctl/store/clusters"
)

// Store reads and writes what is to be written outside. It is safe for concurrent use.
type Store struct{ db *clusters.DB }

// New returns the part of a store that works on its database.
func New(d *clusters.DB) *Store { return &Store{d} }

// change is a transaction of this package.
type change struct{ *clusters.Tx }

// write runs one change.
func (s *Store) write(ctx context.Context, do func(*change) error) error {
	return s.db.Write(ctx, func(tx *clusters.Tx) error { return do(&change{tx}) })
}
