// Package scans keeps the scans of cloud accounts, what they saw, and what of it belongs to no living cluster. It decides nothing
// about what it keeps: lifecycle.Judge judges, and only a cluster's own teardown deletes.
package scans

import (
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes scans and orphans. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }
