// Package testreports keeps the results of test jobs on clusters.
//
// Texts in a report come from whoever wrote the tests: the package stores them as they are, and must never take them for anything else.
package testreports

import (
	"context"

	"github.com/ocpctl/ocpctl/store/clusters"
)

// Store reads and writes test reports. It is safe for concurrent use.
type Store struct{ db *clusters.DB }

// New returns the part of a store that works on its database.
func New(d *clusters.DB) *Store { return &Store{d} }

// change is a transaction of this package.
type change struct{ *clusters.Tx }

// write runs one change.
func (s *Store) write(ctx context.Context, do func(*change) error) error {
	return s.db.Write(ctx, func(tx *clusters.Tx) error { return do(&change{tx}) })
}
