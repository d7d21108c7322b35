// Package pullrequests keeps what GitHub said about pull requests, repositories and the permissions of people there.
package pullrequests

import (
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes the state of pull requests. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }
