// Package costs keeps what clusters cost: charges by the day, from the usage samples, and what the cloud billed for them. It writes
// amounts that it is given and never computes a price.
package costs

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Store reads and writes costs. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }

// Filter selects clusters and days.
type Filter struct {
	From, To time.Time // From is in, To is not
	Teams    []string  // only these teams' clusters; nil: all
}

func (f Filter) check() error {
	if !f.From.Before(f.To) {
		return fmt.Errorf("%w: there is no time between %s and %s", db.ErrConflict, f.From.Format(time.RFC3339), f.To.Format(time.RFC3339))
	}
	return nil
}

// AnnounceBudgets announces parts of budgets that are reached, each once a month.
func (s *Store) AnnounceBudgets(ctx context.Context, reached []usage.Threshold) error {
	if len(reached) == 0 {
		return nil
	}
	return s.db.Write(ctx, func(tx *db.Tx) error { return clusters.AnnounceBudget(ctx, tx, reached) })
}
