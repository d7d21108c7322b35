package attempts

import (
	"context"

	"github.com/ocpctl/ocpctl/store/clusters"
)

// Tx is a transaction that changes clusters and their attempts.
type Tx struct{ *clusters.Tx }

// Write runs one change, see db.DB.Write.
func Write(ctx context.Context, d *clusters.DB, do func(*Tx) error) error {
	return d.Write(ctx, func(tx *clusters.Tx) error { return do(&Tx{tx}) })
}
