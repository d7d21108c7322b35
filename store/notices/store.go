// Package notices stores who hears of what in Slack: announcements of what happened, the notices that follow from them, the
// channels that subscribed, and the state of channels.
package notices

import (
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes notices. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }
