// Package attempts keeps what runners do: their attempts, leases, reports, logs, reservations of capacity and results.
package attempts

import (
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes the attempts of runners. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }
