// Package clusters reads and writes what the packages of the store share: clusters, who changed them and why, replies and approvals.
package clusters

import (
	"context"

	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// DB is a database of clusters.
type DB struct{ usage.DB }

// Open connects to a migrated database.
func Open(ctx context.Context, url string, o db.Options) (*DB, error) {
	d, err := db.Open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	return &DB{usage.DB{DB: d}}, nil
}

// Tx is a transaction that changes clusters.
type Tx struct{ usage.Tx }

// Write runs one change, see db.DB.Write.
func (s *DB) Write(ctx context.Context, do func(*Tx) error) error {
	return s.DB.Write(ctx, func(tx *db.Tx) error { return do(&Tx{usage.Tx{Tx: tx}}) })
}
