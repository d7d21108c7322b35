package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Owner is who signed in, as the sign-in showed it.
type Owner struct {
	Principal string // id
	Name      string
	Seats     json.RawMessage // a list
}

// Account is an account elsewhere whose owner signed in and said that it is theirs.
type Account struct {
	Account  string // e.g. "github:maya"
	Owner           // as of the last sign-in
	LinkedAt time.Time
}

const accountColumns = `account, principal, name, seats, linked_at`

func (c *change) linkAccount(ctx context.Context, account string, by Owner, d Deed) error {
	tag, err := c.Exec(ctx, `
		INSERT INTO accounts AS a (account, principal, name, seats, linked_at) VALUES (@account, @principal, @name, @seats, @now)
		ON CONFLICT (account) DO UPDATE SET name = excluded.name, seats = excluded.seats, linked_at = excluded.linked_at
		WHERE a.principal = excluded.principal`,
		pgx.NamedArgs{"account": account, "principal": by.Principal, "name": by.Name, "seats": listed(by.Seats), "now": c.now})
	if err != nil {
		return fmt.Errorf("keep the account: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("%w: %s is linked to another principal", ErrConflict, account)
	}
	return c.did(d, "account_linked", "", act{After: map[string]string{"account": account, "principal": by.Principal}})
}

// AccountOf returns whose account it is. ErrNotFound: nobody said so.
func (s *Store) AccountOf(ctx context.Context, account string) (Account, error) {
	a, err := one[Account](ctx, s.pool, `SELECT `+accountColumns+` FROM accounts WHERE account = $1`, account)
	if err != nil {
		return Account{}, fmt.Errorf("read the account %s: %w", account, err)
	}
	return a, nil
}

// AccountsOf lists a principal's accounts elsewhere.
func (s *Store) AccountsOf(ctx context.Context, principal string) ([]Account, error) {
	list, err := all[Account](ctx, s.pool, `SELECT `+accountColumns+` FROM accounts WHERE principal = $1 ORDER BY account`, principal)
	if err != nil {
		return nil, fmt.Errorf("read the accounts of %s: %w", principal, err)
	}
	return list, nil
}

// Unlink makes an account nobody's. principal is whose it has to be; empty: whoever's it is. ErrNotFound: it is not.
func (s *Store) Unlink(ctx context.Context, account, principal string, d Deed) error {
	err := s.write(ctx, func(c *change) error {
		was, err := one[Account](ctx, c, `
			DELETE FROM accounts WHERE account = $1 AND ($2 = '' OR principal = $2) RETURNING `+accountColumns, account, principal)
		if err != nil {
			return err
		}
		return c.did(d, "account_unlinked", "", act{Before: map[string]string{"account": account, "principal": was.Principal}})
	})
	if err != nil {
		return fmt.Errorf("unlink %s: %w", account, err)
	}
	return nil
}

// SignedIn brings the seats of whoever's accounts up to what the sign-in showed.
func (s *Store) SignedIn(ctx context.Context, by Owner, door string) error {
	err := s.write(ctx, func(c *change) error {
		changed, err := all[struct {
			Account       string
			Before, After json.RawMessage
		}](ctx, c, `
			UPDATE accounts a SET name = @name, seats = @seats FROM (SELECT account, seats FROM accounts WHERE principal = @principal FOR UPDATE) old
			WHERE old.account = a.account AND (a.name, a.seats) IS DISTINCT FROM (@name, @seats::jsonb)
			RETURNING a.account, old.seats AS before, a.seats AS after`,
			pgx.NamedArgs{"principal": by.Principal, "name": by.Name, "seats": listed(by.Seats)})
		if err != nil {
			return err
		}
		for _, a := range changed {
			d := Deed{Actor: by.Principal, Door: door, Why: "the seats its sign-in showed"}
			if err := c.did(d, "account_seated", "", act{Before: a.Before, After: a.After, Note: a.Account}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("bring the accounts of %s up to date: %w", by.Principal, err)
	}
	return nil
}

// listed is never null.
func listed(seats json.RawMessage) json.RawMessage {
	if len(seats) == 0 || string(seats) == "null" {
		return json.RawMessage(`[]`)
	}
	return seats
}

// person is whom an id means: an account elsewhere is its owner.
func (c *change) person(ctx context.Context, id string) (principal string, err error) {
	err = c.QueryRow(ctx, `SELECT coalesce((SELECT principal FROM accounts WHERE account = $1), $1)`, id).Scan(&principal)
	if err != nil {
		return "", fmt.Errorf("look for the owner of %s: %w", id, err)
	}
	return principal, nil
}

// same says whether two ids mean one person.
func (c *change) same(ctx context.Context, a, b string) (bool, error) {
	first, err := c.person(ctx, a)
	if err != nil {
		return false, err
	}
	second, err := c.person(ctx, b)
	return first == second, err
}
