// Package access keeps who has access to a cluster: for each credential its reader, role and expiry. It makes none: a runner does, and
// reports it through store/attempts. A row comes before the credential, and a revoked row is never valid again.
package access

import (
	"context"

	"github.com/ocpctl/ocpctl/store/internal/rows"
	"github.com/ocpctl/ocpctl/store/internal/usage"
)

// Store reads and writes accesses. It is safe for concurrent use.
type Store struct{ db *rows.DB }

// New returns the part of a store that works on its database.
func New(d *rows.DB) *Store { return &Store{d} }

// change is a transaction of this package.
type change struct{ *rows.Tx }

// changeSeen runs do on the locked cluster, see rows.DB.ChangeSeen.
func (s *Store) changeSeen(ctx context.Context, id string, origin rows.Origin, do func(*change, usage.Held) error) error {
	_, err := s.db.ChangeSeen(ctx, id, origin, func(tx *rows.Tx, held usage.Held, _ *rows.Outcome) error { return do(&change{tx}, held) })
	return err
}

// The types that this package shares with the parts of the store that write such rows.
type (
	Ask   = rows.AccessAsk
	OfRun = rows.OfRun
	Row   = rows.AccessRow
	Role  = rows.Role
)

// Their constants.
const (
	RoleView  = rows.RoleView
	RoleEdit  = rows.RoleEdit
	RoleAdmin = rows.RoleAdmin
	OwnRight  = rows.OwnRight
	Asked     = rows.AccessAsked
	Ready     = rows.AccessReady
	Failed    = rows.AccessFailed
	Expired   = rows.AccessExpired
	Revoked   = rows.AccessRevoked
)

// ShareRight is the right of a share.
func ShareRight(kind, grantee string) string { return kind + ":" + grantee }
