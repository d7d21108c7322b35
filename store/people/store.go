// Package people keeps who people are to us: linked accounts, identities of the catalogue, ended sessions, one-time links, and
// the clusters that were shared with them.
package people

import (
	"context"

	"github.com/ocpctl/ocpctl/store/internal/rows"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// Store reads and writes what is known of people. It is safe for concurrent use.
type Store struct{ db *rows.DB }

// New returns the part of a store that works on its database.
func New(d *rows.DB) *Store { return &Store{d} }

// change is a transaction of this package.
type change struct{ *rows.Tx }

// write runs one change.
func (s *Store) write(ctx context.Context, do func(*change) error) error {
	return s.db.Write(ctx, func(tx *rows.Tx) error { return do(&change{tx}) })
}

// changeSeen runs do on the locked cluster, see rows.DB.ChangeSeen.
func (s *Store) changeSeen(ctx context.Context, id string, origin rows.Origin, do func(*change, usage.Held, *rows.Outcome) error) (rows.Outcome, error) {
	return s.db.ChangeSeen(ctx, id, origin, func(tx *rows.Tx, held usage.Held, out *rows.Outcome) error { return do(&change{tx}, held, out) })
}
