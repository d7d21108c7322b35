// Package outbox keeps what is to be written outside, until it is done: replies, effects on GitHub, the places that show a
// cluster, and the pace at which GitHub lets us write.
package outbox

import (
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes what is to be written outside. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }
