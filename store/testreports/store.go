// Package testreports keeps the results of test jobs on clusters.
//
// Texts in a report come from whoever wrote the tests: the package stores them as they are, and must never take them for anything else.
package testreports

import (
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes test reports. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }
