// Package measures reads the figures of the metrics: what is so now, and how long things took. It changes nothing.
//
// Everything comes from rows, so every replica reports the same, and a restart loses nothing.
package measures

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads figures. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }

// settled is how old an event has to be before it is counted: until then a transaction that began earlier may still commit.
const settled = 30 * time.Second

// Count is how many events of one group fell into one bucket.
type Count struct {
	Labels  []string // the group, in the order of Measure.Labels
	Bucket  int      // index into Measure.Buckets of the first bound that is not less; len(Buckets): above all of them
	N       int64
	Seconds float64 // their sum
}

// Counted returns what a measure counted in the time after from. until is where the next call goes on. A zero from counts everything
// ever.
func (s *Store) Counted(ctx context.Context, m Measure, from time.Time) (counts []Count, until time.Time, err error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, from, err
	}
	until = now.Add(-settled)
	if !until.After(from) {
		return nil, from, nil
	}
	counts, err = db.All[Count](ctx, s.db.Pool(), `
		SELECT labels, coalesce(width_bucket(took, @buckets::float8[]), 0) AS bucket,
			count(*) AS n, sum(took)::float8 AS seconds
		FROM (SELECT labels, greatest(0, extract(epoch FROM took))::float8 AS took FROM (`+m.events+`) AS events) AS taken GROUP BY 1, 2`,
		pgx.NamedArgs{"from": from, "to": until, "buckets": m.Buckets})
	if err != nil {
		return nil, from, fmt.Errorf("count for the metric %s: %w", m.Name, err)
	}
	return counts, until, nil
}

// Now returns the database's time.
func (s *Store) Now(ctx context.Context) (time.Time, error) { return s.db.Now(ctx) }
