// Package inbox keeps the deliveries that came in: webhooks of GitHub and requests of Slack, each stored before it is worked on.
package inbox

import (
	"context"

	"github.com/ocpctl/ocpctl/store/clusters"
)

// Store reads and writes deliveries. It is safe for concurrent use.
type Store struct{ db *clusters.DB }

// New returns the part of a store that works on its database.
func New(d *clusters.DB) *Store { return &Store{d} }

// change is a transaction of this package.
type change struct{ *clusters.Tx }

// write runs one change.
func (s *Store) write(ctx context.Context, do func(*change) error) error {
	return s.db.Write(ctx, func(tx *clusters.Tx) error { return do(&change{tx}) })
}
