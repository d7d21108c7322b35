// Package rows reads and writes what the packages of the store share: clusters, who changed them and why, replies and approvals.
package rows

import (
	"context"

	"github.com/ocpctl/ocpctl/store/internal/pg"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// DB is a database of clusters.
type DB struct{ usage.DB }

// Open connects to a migrated database.
func Open(ctx context.Context, url string, o pg.Options) (*DB, error) {
	d, err := pg.Open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	return &DB{usage.DB{DB: d}}, nil
}

// Tx is a transaction that changes clusters.
type Tx struct{ usage.Tx }

// Write runs one change, see pg.DB.Write.
func (s *DB) Write(ctx context.Context, do func(*Tx) error) error {
	return s.DB.Write(ctx, func(tx *pg.Tx) error { return do(&Tx{usage.Tx{Tx: tx}}) })
}
