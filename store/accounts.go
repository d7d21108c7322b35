package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Owner is who signed in, as the sign-in showed it.
type Owner struct {
	Principal string // id
	Name      string
	Proof     json.RawMessage // an object: what was proved, from which seats follow
}

// Account is an account elsewhere whose owner signed in and said that it is theirs.
type Account struct {
	Account  string // e.g. "github:maya"
	Number   string // the account's own, which no renaming changes
	Owner           // as of the last sign-in
	LinkedAt time.Time
	SeenAt   time.Time // of the last sign-in
}

const accountColumns = `account, number, principal, name, proof, linked_at, seen_at`

// linkAccount makes an account its owner's. One that bears the name of another's, after a renaming, takes its place.
func (c *change) linkAccount(ctx context.Context, account, number string, by Owner, d Deed) error {
	tag, err := c.Exec(ctx, `
		INSERT INTO accounts AS a (account, number, principal, name, proof, linked_at, seen_at) VALUES (@account, @number, @principal, @name, @proof, @now, @now)
		ON CONFLICT (account) DO UPDATE SET number = excluded.number, principal = excluded.principal, name = excluded.name, proof = excluded.proof,
			linked_at = excluded.linked_at, seen_at = excluded.seen_at
		WHERE a.principal = excluded.principal OR a.number <> excluded.number`,
		pgx.NamedArgs{"account": account, "number": number, "principal": by.Principal, "name": by.Name, "proof": object(by.Proof), "now": c.now})
	if err != nil {
		return fmt.Errorf("keep the account: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("%w: %s is linked to another principal", ErrConflict, account)
	}
	c.nextTurns() // who is counted together changed
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
		c.nextTurns()
		return c.did(d, "account_unlinked", "", act{Before: map[string]string{"account": account, "principal": was.Principal}})
	})
	if err != nil {
		return fmt.Errorf("unlink %s: %w", account, err)
	}
	return nil
}

// SignedIn brings whoever's accounts up to what the sign-in showed. The trail is told when it shows something else than before.
func (s *Store) SignedIn(ctx context.Context, by Owner, door string) error {
	err := s.write(ctx, func(c *change) error {
		seen, err := all[struct {
			Account string
			News    bool
		}](ctx, c, `
			UPDATE accounts a SET name = @name, proof = @proof, seen_at = @now
			FROM (SELECT account, proof FROM accounts WHERE principal = @principal FOR UPDATE) old WHERE old.account = a.account
			RETURNING a.account, old.proof IS DISTINCT FROM a.proof AS news`,
			pgx.NamedArgs{"principal": by.Principal, "name": by.Name, "proof": object(by.Proof), "now": c.now})
		if err != nil {
			return err
		}
		for _, a := range seen {
			if !a.News {
				continue
			}
			d := Deed{Actor: by.Principal, Door: door, Why: "its sign-in showed something else than the one before"}
			if err := c.did(d, "account_proved", "", act{Note: a.Account}); err != nil {
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

// object is never null.
func object(proof json.RawMessage) json.RawMessage {
	if len(proof) == 0 || string(proof) == "null" {
		return json.RawMessage(`{}`)
	}
	return proof
}

// person is whom an id means: an account elsewhere is its owner.
func (c *change) person(ctx context.Context, id string) (principal string, err error) {
	err = c.QueryRow(ctx, `SELECT coalesce((SELECT principal FROM accounts WHERE account = $1), $1)`, id).Scan(&principal)
	if err != nil {
		return "", fmt.Errorf("look for the owner of %s: %w", id, err)
	}
	return principal, nil
}

// human is what the ids of one person have in common, as far as ids tell: IAM Identity Center calls people the same in SAML
// and in the sessions of its roles. It may take two people for one, so it only ever keeps somebody from something.
func human(principal string) string {
	if name, ok := strings.CutPrefix(principal, "saml:"); ok {
		return strings.ToLower(name)
	}
	if _, role, ok := strings.Cut(principal, ":role/AWSReservedSSO_"); ok && strings.HasPrefix(principal, "aws:") {
		if _, name, ok := strings.Cut(role, "/"); ok {
			return strings.ToLower(name)
		}
	}
	return principal
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
