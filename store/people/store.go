// Package people keeps who people are to us: linked accounts, identities of the catalogue, ended sessions, one-time links, and
// the clusters that were shared with them.
package people

import (
	"context"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Store reads and writes what is known of people. It is safe for concurrent use.
type Store struct{ db *clusters.DB }

// New returns the part of a store that works on its database.
func New(d *clusters.DB) *Store { return &Store{d} }

// change is a transaction of this package.
type change struct{ *clusters.Tx }

// write runs one change.
func (s *Store) write(ctx context.Context, do func(*change) error) error {
	return s.db.Write(ctx, func(tx *clusters.Tx) error { return do(&change{tx}) })
}

// changeSeen runs do on the locked cluster, see clusters.DB.ChangeSeen.
func (s *Store) changeSeen(ctx context.Context, id string, origin clusters.Origin, do func(*change, usage.Held, *clusters.Outcome) error) (clusters.Outcome, error) {
	return s.db.ChangeSeen(ctx, id, origin, func(tx *clusters.Tx, held usage.Held, out *clusters.Outcome) error { return do(&change{tx}, held, out) })
}
