package access

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// OpenIDOf returns the access with which a principal, by any of its linked accounts, signs in to a cluster's console through ocpctl. ErrNotFound:
// it has none that can be used.
func (s *Store) OpenIDOf(ctx context.Context, cluster, principal string) (Row, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return Row{}, err
	}
	found, err := list(ctx, s.db.Pool(), now, `a.cluster_id = @cluster AND a.openid AND a.removed_at IS NULL AND a.revoked_at IS NULL AND a.minted_at IS NOT NULL AND a.expires_at > @now
		AND principal_key(a.reader) = ANY (identities_of(@reader))`, pgx.NamedArgs{"cluster": cluster, "reader": principal})
	if err == nil && len(found) == 0 {
		err = db.ErrNotFound
	}
	if err != nil {
		return Row{}, fmt.Errorf("read how %s signs in to the console of %s: %w", principal, cluster, err)
	}
	return found[0], nil
}
