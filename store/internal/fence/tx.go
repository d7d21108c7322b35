// Package fence keeps runners apart: only the runner of the open attempt may change what is known of its cluster.
package fence

import (
	"context"

	"github.com/ocpctl/ocpctl/store/internal/rows"
)

// Tx is a transaction that changes clusters and their attempts.
type Tx struct{ *rows.Tx }

// Write runs one change, see pg.DB.Write.
func Write(ctx context.Context, d *rows.DB, do func(*Tx) error) error {
	return d.Write(ctx, func(tx *rows.Tx) error { return do(&Tx{tx}) })
}
