package people

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/store/db"
)

// SpendSignature accepts a signature once. hash is its SHA-256 in lowercase hex; until is when the signature expires: it is
// remembered at least that long. fresh is false if any replica accepted it before.
func (s *Store) SpendSignature(ctx context.Context, hash string, until time.Time) (fresh bool, err error) {
	tag, err := s.db.Pool().Exec(ctx, `INSERT INTO signatures (hash, expires_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING`, hash, until)
	if err != nil {
		return false, fmt.Errorf("spend a signature: %w", db.Plain(err))
	}
	return tag.RowsAffected() == 1, nil
}
