package people

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// ProofLasts is how long the owner of an account may take to prove where it is that the account is theirs.
const ProofLasts = 10 * time.Minute

// BeginProof keeps that a principal goes to prove that the account of a link is theirs. Of the state, with which their browser comes back, only a
// hash is stored. A newer proof replaces it. ErrNotFound: the link of an account does not work.
func (s *Store) BeginProof(ctx context.Context, handle, principal, state string) error {
	return s.db.Write(ctx, func(c *db.Tx) error {
		tag, err := c.Exec(ctx, `UPDATE links SET state_hash = @state, state_until = @until WHERE kind = 'account' AND `+linkWorks,
			pgx.NamedArgs{"hash": hashHandle(handle), "actor": principal, "now": c.Now, "state": hashState(state, principal), "until": db.Round(c.Now.Add(ProofLasts))})
		if err != nil {
			return fmt.Errorf("begin a proof: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return fmt.Errorf("begin a proof: %w", errNoLink)
		}
		return nil
	})
}

// UseProof uses up a state, and returns the link of an account that it was for. ErrNotFound: the principal began no proof of this link with
// it, used it before, or took too long.
func (s *Store) UseProof(ctx context.Context, handle, principal, state string) (l Link, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		l, err = db.One[Link](ctx, c, `UPDATE links SET state_hash = NULL, state_until = NULL
			WHERE state_hash = @state AND state_until > @now AND `+linkWorks+` RETURNING `+linkColumns,
			pgx.NamedArgs{"hash": hashHandle(handle), "actor": principal, "now": c.Now, "state": hashState(state, principal)})
		return err
	})
	if err != nil {
		return Link{}, fmt.Errorf("use a proof: %w", err)
	}
	return l, nil
}

// hashState is what is stored of a state. The principal is in it, so that it is nothing for another.
func hashState(state, principal string) string { return hashHandle(principal + " " + state) }
