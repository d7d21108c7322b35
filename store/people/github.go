package people

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// GitHubAccount is an account on GitHub as it was seen last.
type GitHubAccount struct {
	ID        int64    // GitHub's number, which never changes
	Principal string   // its principal id
	Login     string   // its current login
	Owns      []string // the logins that are its alone, in lower case: the current one, unless it was another's before, and earlier ones
}

// RecordGitHubAccount writes down that an account on GitHub has this login now. A login that nobody had belongs to the account from then on;
// one that was another's stays the other's, which the audit trail tells once.
func (s *Store) RecordGitHubAccount(ctx context.Context, id int64, login string) (seen GitHubAccount, err error) {
	if seen, err = s.gitHubAccount(ctx, id); err == nil && seen.Login == login {
		return seen, nil
	}
	err = s.db.Write(ctx, func(c *db.Tx) error {
		args := pgx.NamedArgs{"id": id, "login": login, "key": strings.ToLower(login), "now": c.Now}
		var principal string
		err := c.QueryRow(ctx, `
			INSERT INTO github_accounts (id, login, seen_at) VALUES (@id, @login, @now)
			ON CONFLICT (id) DO UPDATE SET login = excluded.login, seen_at = excluded.seen_at RETURNING principal`, args).Scan(&principal)
		if err != nil {
			return fmt.Errorf("write the account: %w", err)
		}
		tag, err := c.Exec(ctx, `INSERT INTO github_logins (login, account) VALUES (@key, @id) ON CONFLICT (login) DO NOTHING`, args)
		if err != nil {
			return fmt.Errorf("write whose the login is: %w", err)
		}
		if tag.RowsAffected() > 0 {
			clusters.NextTurns(c) // rows that name the login count for the account now
		}
		var anothers bool
		if err := c.QueryRow(ctx, `SELECT account IS DISTINCT FROM @id FROM github_logins WHERE login = @key`, args).Scan(&anothers); err != nil {
			return fmt.Errorf("look for whose the login is: %w", err)
		}
		if !anothers {
			return nil
		}
		return clusters.RecordAction(c, clusters.Origin{Actor: principal, Source: "github", Why: "the login " + login + " was another account's before"},
			"login_reused", "", clusters.Action{Note: login})
	})
	if err == nil {
		seen, err = s.gitHubAccount(ctx, id)
	}
	if err != nil {
		return GitHubAccount{}, fmt.Errorf("write down that account %d on GitHub is called %s: %w", id, login, err)
	}
	return seen, nil
}

const githubColumns = `g.id, g.principal, g.login, ARRAY(SELECT l.login FROM github_logins l WHERE l.account = g.id ORDER BY 1) AS owns`

func (s *Store) gitHubAccount(ctx context.Context, id int64) (GitHubAccount, error) {
	return db.One[GitHubAccount](ctx, s.db.Pool(), `SELECT `+githubColumns+` FROM github_accounts g WHERE g.id = $1`, id)
}

// LoginOwner returns whose a login on GitHub is. An owner may have another login by now. ErrNotFound: no account was seen with it.
func (s *Store) LoginOwner(ctx context.Context, login string) (GitHubAccount, error) {
	a, err := db.One[GitHubAccount](ctx, s.db.Pool(), `
		SELECT `+githubColumns+` FROM github_logins o JOIN github_accounts g ON g.id = o.account WHERE o.login = lower($1)`, login)
	if err != nil {
		return GitHubAccount{}, fmt.Errorf("look for whose login %s is: %w", login, err)
	}
	return a, nil
}

// UnknownLogins returns those of the logins with which no account was seen.
func (s *Store) UnknownLogins(ctx context.Context, logins []string) ([]string, error) {
	found, err := db.All[struct{ Login string }](ctx, s.db.Pool(), `
		SELECT t.login FROM unnest($1::text[]) AS t (login) WHERE NOT EXISTS (SELECT FROM github_logins l WHERE l.login = lower(t.login))`, logins)
	if err != nil {
		return nil, fmt.Errorf("look for logins that nobody was seen with: %w", err)
	}
	out := make([]string, len(found))
	for i, f := range found {
		out[i] = f.Login
	}
	return out, nil
}

// hasLoginStill is the condition that no other account was seen with the login of the account g since. Then g has another one, which is
// not known yet.
const hasLoginStill = `NOT EXISTS (SELECT FROM github_accounts o WHERE lower(o.login) = lower(g.login) AND o.id <> g.id AND o.seen_at >= g.seen_at)`

// LoginsOf returns, by principal, the current logins of accounts on GitHub, to mention them. Others are missing.
func (s *Store) LoginsOf(ctx context.Context, principals ...string) (map[string]string, error) {
	found, err := db.All[struct{ Principal, Login string }](ctx, s.db.Pool(), `
		SELECT t.id AS principal, g.login FROM unnest($1::text[]) AS t (id) JOIN github_accounts g ON g.principal = account_of(principal_key(t.id)) AND `+hasLoginStill, principals)
	if err != nil {
		return nil, fmt.Errorf("look for the names of accounts on GitHub: %w", err)
	}
	logins := make(map[string]string, len(found))
	for _, f := range found {
		logins[f.Principal] = f.Login
	}
	return logins, nil
}

// CurrentLogins returns what the accounts that the catalogue names by a login or as github:id/number are called now, to mention them. A
// login belongs to the account that had it first. Teams (organization/slug) and logins with which nobody was seen stay as they are;
// whoever's current login is not known is left out.
func (s *Store) CurrentLogins(ctx context.Context, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := db.All[struct{ Name string }](ctx, s.db.Pool(), `
		SELECT coalesce(g.login, t.name) AS name FROM unnest($1::text[]) WITH ORDINALITY AS t (name, at)
		LEFT JOIN github_logins l ON l.login = lower(t.name)
		LEFT JOIN github_accounts g ON (g.id = l.account OR g.principal = t.name) AND `+hasLoginStill+`
		WHERE g.id IS NOT NULL OR l.login IS NULL AND t.name NOT LIKE 'github:id/%' ORDER BY t.at`, names)
	if err != nil {
		return nil, fmt.Errorf("look for the current logins of accounts on GitHub: %w", err)
	}
	out := make([]string, len(found))
	for i, f := range found {
		out[i] = f.Name
	}
	return out, nil
}
