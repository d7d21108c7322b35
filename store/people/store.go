// Package people keeps who people are to us: linked accounts, identities of the catalogue, ended sessions, one-time links, and
// the clusters that were shared with them.
package people

import (
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes what is known of people. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }
