// Package inbox keeps the deliveries that came in: webhooks of GitHub and requests of Slack, each stored before it is worked on.
package inbox

import (
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes deliveries. It is safe for concurrent use.
type Store struct {
	db       *db.DB
	arrivals arrivals
}

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{db: d} }
