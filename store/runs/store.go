// Package runs keeps the pipeline runs that asked for clusters: what is known of each run, which clusters end with it, and whose turn
// it is on a cluster that several runs share.
//
// It must never ask a platform anything: what it writes was said by a verified token, a signed webhook or the platform's API, and the
// caller says which. The end of a run's cluster is set and lifted here alone.
package runs

import (
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes runs. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }
