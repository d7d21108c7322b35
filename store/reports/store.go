// Package reports keeps what is counted and found over many clusters: findings, usage, jobs, and what has to be deleted.
package reports

import (
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes findings, reports and removals. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }
