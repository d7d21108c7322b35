package people

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Owner is the signed-in principal, as the sign-in showed it.
type Owner struct {
	Principal string // id
	Name      string
	Proof     json.RawMessage // a JSON object: the proved claims that roles follow from
}

// Account is an account elsewhere that its owner linked while signed in.
type Account struct {
	Account  string // its principal id, e.g. "github:id/583231"
	Number   string // the account's id elsewhere; the release before needs it
	Owner           // as of the last sign-in
	LinkedAt time.Time
	SeenAt   time.Time // of the last sign-in
}

const accountColumns = `account, number, principal, name, proof, linked_at, seen_at`

// linkAccount links an account to its owner.
func linkAccount(ctx context.Context, c *db.Tx, account, number string, by Owner, d clusters.Origin) error {
	if err := checkLinkable(ctx, c, account, by.Principal); err != nil {
		return err
	}
	tag, err := c.Exec(ctx, `
		INSERT INTO accounts AS a (account, number, principal, name, proof, linked_at, seen_at) VALUES (@account, @number, @principal, @name, @proof, @now, @now)
		ON CONFLICT (account) DO UPDATE SET number = excluded.number, principal = excluded.principal, name = excluded.name, proof = excluded.proof,
			linked_at = excluded.linked_at, seen_at = excluded.seen_at
		WHERE a.principal = excluded.principal`,
		pgx.NamedArgs{"account": account, "number": number, "principal": by.Principal, "name": by.Name, "proof": object(by.Proof), "now": c.Now})
	if err != nil {
		return fmt.Errorf("keep the account: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("%w: %s is linked to another principal", db.ErrConflict, account)
	}
	clusters.NextTurns(c) // who is counted together changed
	return clusters.RecordAction(c, d, "account_linked", "", clusters.Action{After: map[string]string{"account": account, "principal": by.Principal}})
}

// checkLinkable returns ErrConflict if the account is another person's, by a link or by the catalogue.
func checkLinkable(ctx context.Context, c *db.Tx, account, principal string) error {
	var linked, anothers bool
	if err := c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM accounts WHERE account = $1 AND principal <> $2),
		person_of($1) LIKE 'person:%' AND person_of($1) <> person_of($2)`, account, principal).Scan(&linked, &anothers); err != nil {
		return fmt.Errorf("look for whose the account is: %w", err)
	}
	switch {
	case linked:
		return fmt.Errorf("%w: %s is linked to another principal", db.ErrConflict, account)
	case anothers:
		return fmt.Errorf("%w: %s belongs to another person", db.ErrConflict, account)
	}
	return nil
}

// AccountOf returns the link of an account. ErrNotFound: it is not linked.
func (s *Store) AccountOf(ctx context.Context, account string) (Account, error) {
	a, err := db.One[Account](ctx, s.db.Pool(), `SELECT `+accountColumns+` FROM accounts WHERE account = $1`, account)
	if err != nil {
		return Account{}, fmt.Errorf("read the account %s: %w", account, err)
	}
	return a, nil
}

// AccountsOf lists a principal's linked accounts.
func (s *Store) AccountsOf(ctx context.Context, principal string) ([]Account, error) {
	list, err := db.All[Account](ctx, s.db.Pool(), `SELECT `+accountColumns+` FROM accounts WHERE principal = $1 ORDER BY account`, principal)
	if err != nil {
		return nil, fmt.Errorf("read the accounts of %s: %w", principal, err)
	}
	return list, nil
}

// Unlink removes an account's link. principal is the owner it must have; empty: any. ErrNotFound: there is no such link.
func (s *Store) Unlink(ctx context.Context, account, principal string, d clusters.Origin) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		was, err := db.One[Account](ctx, c, `
			DELETE FROM accounts WHERE account = $1 AND ($2 = '' OR principal = $2) RETURNING `+accountColumns, account, principal)
		if err != nil {
			return err
		}
		clusters.NextTurns(c)
		if err := clusters.RecordAction(c, d, "account_unlinked", "", clusters.Action{Before: map[string]string{"account": account, "principal": was.Principal}}); err != nil {
			return err
		}
		return clusters.SaveReplyOnce(ctx, c, d.Reply, clusters.Outcome{})
	})
	if err != nil {
		return fmt.Errorf("unlink %s: %w", account, err)
	}
	return nil
}

// SignedIn updates the principal's linked accounts from a sign-in. It writes an audit line for each whose proof changed.
func (s *Store) SignedIn(ctx context.Context, by Owner, door string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		seen, err := db.All[struct {
			Account string
			News    bool
		}](ctx, c, `
			UPDATE accounts a SET name = @name, proof = @proof, seen_at = @now
			FROM (SELECT account, proof FROM accounts WHERE principal = @principal FOR UPDATE) old WHERE old.account = a.account
			RETURNING a.account, old.proof IS DISTINCT FROM a.proof AS news`,
			pgx.NamedArgs{"principal": by.Principal, "name": by.Name, "proof": object(by.Proof), "now": c.Now})
		if err != nil {
			return err
		}
		for _, a := range seen {
			if !a.News {
				continue
			}
			d := clusters.Origin{Actor: by.Principal, Source: door, Why: "its sign-in showed something else than the one before"}
			if err := clusters.RecordAction(c, d, "account_proved", "", clusters.Action{Note: a.Account}); err != nil {
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

// object returns the proof, or an empty JSON object for null.
func object(proof json.RawMessage) json.RawMessage {
	if len(proof) == 0 || string(proof) == "null" {
		return json.RawMessage(`{}`)
	}
	return proof
}

// ListLookalikes returns the accounts on GitHub and in Slack that count for nobody yet and whose login, name or confirmed e-mail is this name
// or address. That proves nothing: it is only a reason to ask somebody whether they want to link theirs.
func (s *Store) ListLookalikes(ctx context.Context, name, email string) ([]string, error) {
	list, err := db.All[struct{ Account string }](ctx, s.db.Pool(), `
		SELECT g.principal AS account FROM github_accounts g WHERE lower(g.login) = lower(@name) AND person_of(g.principal) = g.principal
		UNION SELECT s.account FROM slack_people s WHERE NOT s.bot AND NOT s.deactivated AND person_of(s.account) = s.account
			AND (lower(s.name) = lower(@name) OR s.email = lower(@email) AND s.email <> '')
		ORDER BY account LIMIT 5`, pgx.NamedArgs{"name": name, "email": email})
	if err != nil {
		return nil, fmt.Errorf("look for accounts that are called %s: %w", name, err)
	}
	accounts := make([]string, 0, len(list))
	for _, a := range list {
		accounts = append(accounts, a.Account)
	}
	return accounts, nil
}
