package people

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

const (
	// CodeLasts is how long the account's own side of a link may take.
	CodeLasts = 10 * time.Minute

	// MaxCodeTries is how many wrong codes end a pending link.
	MaxCodeTries = 5

	// CodeLength is the number of characters of a code.
	CodeLength = 6
)

// awaitAccount keeps a link that the signed-in person confirmed until its account types the code, which is returned and not stored.
// A newer one of the same account replaces it. ErrConflict as with linkAccount.
func awaitAccount(ctx context.Context, c *db.Tx, l Link, by Owner, d clusters.Origin) (code string, err error) {
	if err := checkLinkable(ctx, c, l.Account, by.Principal); err != nil {
		return "", err
	}
	code = newCode()
	_, err = c.Exec(ctx, `
		INSERT INTO pending_links (account, number, principal, name, proof, code, expires_at) VALUES (@account, @number, @principal, @name, @proof, @code, @expires)
		ON CONFLICT (account) DO UPDATE SET number = excluded.number, principal = excluded.principal, name = excluded.name, proof = excluded.proof,
			code = excluded.code, tries = 0, expires_at = excluded.expires_at`,
		pgx.NamedArgs{"account": l.Account, "number": l.Number, "principal": by.Principal, "name": by.Name, "proof": object(by.Proof),
			"code": hashCode(l.Account, code), "expires": db.Round(c.Now.Add(CodeLasts))})
	if err != nil {
		return "", fmt.Errorf("keep the pending link: %w", err)
	}
	return code, clusters.RecordAction(c, d, "account_link_confirmed", "", clusters.Action{After: map[string]string{"account": l.Account, "principal": by.Principal}})
}

// newCode returns a random code of letters and at least one digit, by which commands tell it from a word.
func newCode() string {
	for {
		if code := rand.Text()[:CodeLength]; strings.ContainsAny(code, "234567") {
			return code
		}
	}
}

// CompleteLink links an account to the person who confirmed it, with the code that only they saw. The account is the one that types
// it. ErrNotFound: nothing waits for this code of this account; after MaxCodeTries wrong ones nothing waits any more. The audit trail
// says why. ErrConflict: the account became somebody else's in the meantime.
func (s *Store) CompleteLink(ctx context.Context, account, code string, d clusters.Origin) error {
	refused := false
	err := s.db.Write(ctx, func(c *db.Tx) error {
		if done, err := clusters.AnsweredBefore(ctx, c, d.Reply); err != nil || done {
			return err
		}
		p, err := db.One[struct {
			Number, Principal, Name, Code string
			Proof                         json.RawMessage
			Tries                         int
			Over                          bool
		}](ctx, c, `SELECT number, principal, name, code, proof, tries, expires_at <= $2 AS over FROM pending_links WHERE account = $1 FOR UPDATE`, account, c.Now)
		why := ""
		switch {
		case errors.Is(err, db.ErrNotFound):
			why = "no link of the account waits for a code"
		case err != nil:
			return fmt.Errorf("look for the pending link: %w", err)
		case p.Over:
			why = "the code's time was over"
		case p.Code != hashCode(account, code):
			why = fmt.Sprintf("the code was wrong, attempt %d of %d", p.Tries+1, MaxCodeTries)
		}
		if refused = why != ""; refused { // committed, for the try and its audit line
			return refuseCode(ctx, c, account, why, d)
		}
		if _, err := c.Exec(ctx, `DELETE FROM pending_links WHERE account = $1`, account); err != nil {
			return fmt.Errorf("spend the code: %w", err)
		}
		if err := linkAccount(ctx, c, account, p.Number, Owner{Principal: p.Principal, Name: p.Name, Proof: p.Proof}, d); err != nil {
			return err
		}
		return clusters.SaveReplyOnce(ctx, c, d.Reply, clusters.Outcome{})
	})
	if err == nil && refused {
		err = fmt.Errorf("%w: the code does not work, or not any more", db.ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("complete the link of %s: %w", account, err)
	}
	return nil
}

// refuseCode counts a wrong code and records why it did not work.
func refuseCode(ctx context.Context, c *db.Tx, account, why string, d clusters.Origin) error {
	for _, statement := range []string{
		`UPDATE pending_links SET tries = tries + 1 WHERE account = @account`,
		`DELETE FROM pending_links WHERE account = @account AND (tries >= @most OR expires_at <= @now)`,
	} {
		if _, err := c.Exec(ctx, statement, pgx.NamedArgs{"account": account, "most": MaxCodeTries, "now": c.Now}); err != nil {
			return fmt.Errorf("count a wrong code: %w", err)
		}
	}
	d.Instead = lifecycle.Noted(why)
	return clusters.RecordAction(c, d, "link_refused", "", clusters.Action{Note: string(LinkOfAccount)})
}

// hashCode is what is stored of a code. The account is in it, so that it is nothing for another.
func hashCode(account, code string) string { return hashHandle(account + " " + code) }
