// Package access keeps who has access to a cluster: for each credential its reader, role and expiry. It makes none: a runner does, and
// reports it through store/attempts. A row comes before the credential, and a revoked row is never valid again.
package access

import (
	"context"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Store reads and writes accesses. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }

// changeSeen runs do on the locked cluster, see clusters.ChangeSeen.
func (s *Store) changeSeen(ctx context.Context, id string, origin clusters.Origin, do func(*db.Tx, usage.Held) error) error {
	_, err := clusters.ChangeSeen(ctx, s.db, id, origin, func(tx *db.Tx, held usage.Held, _ *clusters.Outcome) error { return do(tx, held) })
	return err
}

// ShareRight is the right of a share.
func ShareRight(kind, grantee string) string { return kind + ":" + grantee }
