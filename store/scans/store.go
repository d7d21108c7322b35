// Package scans keeps the looks through cloud accounts, what they saw, and what of it belongs to no living cluster. It decides nothing
// about what it keeps: lifecycle.Judge judges, and only a cluster's own teardown deletes.
package scans

import (
	"context"

	"github.com/ocpctl/ocpctl/store/clusters"
)

// Store reads and writes scans and orphans. It is safe for concurrent use.
type Store struct{ db *clusters.DB }

// New returns the part of a store that works on its database.
func New(d *clusters.DB) *Store { return &Store{d} }

// change is a transaction of this package.
type change struct{ *clusters.Tx }

// write runs one change.
func (s *Store) write(ctx context.Context, do func(*change) error) error {
	return s.db.Write(ctx, func(tx *clusters.Tx) error { return do(&change{tx}) })
}
