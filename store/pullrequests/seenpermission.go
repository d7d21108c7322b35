package pullrequests

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// SeenPermission is what GitHub reported about a person in a repository.
type SeenPermission struct {
	Installation int64
	Repo         string // owner/name
	Account      int64  // GitHub's id of the person
	Login        string
	Permission   string   // admin, maintain, write, triage, read or none
	Teams        []string // the person's teams, of those that the catalogue names
	SeenAt       time.Time
}

// seenAgain is how old a stored answer must be before the same answer is written again.
const seenAgain = time.Minute

// SeePermission stores what GitHub just reported, over an earlier report.
func (s *Store) SeePermission(ctx context.Context, p SeenPermission) error {
	_, err := s.db.Pool().Exec(ctx, `
		INSERT INTO seen_permissions AS p (installation, repo, account, login, permission, teams, seen_at)
		VALUES (@installation, @repo, @account, @login, @permission, coalesce(@teams::text[], '{}'), `+db.PaceClock+`)
		ON CONFLICT (installation, repo, account) DO UPDATE
			SET login = excluded.login, permission = excluded.permission, teams = excluded.teams, seen_at = excluded.seen_at
			WHERE (p.login, p.permission, p.teams) IS DISTINCT FROM (excluded.login, excluded.permission, excluded.teams)
				OR p.seen_at < excluded.seen_at - @again::interval`,
		pgx.NamedArgs{
			"installation": p.Installation, "repo": strings.ToLower(p.Repo), "account": p.Account, "login": p.Login, "permission": p.Permission,
			"teams": p.Teams, "again": seenAgain, "fixed": s.db.Fixed(),
		})
	if err != nil {
		return fmt.Errorf("remember the permission of %s in %s: %w", p.Login, p.Repo, db.Plain(err))
	}
	return nil
}

// PermissionSeen returns what GitHub reported about a person in a repository within that time. ErrNotFound: nothing.
func (s *Store) PermissionSeen(ctx context.Context, installation int64, repo string, account int64, within time.Duration) (SeenPermission, error) {
	seen, err := db.One[SeenPermission](ctx, s.db.Pool(), `
		SELECT installation, repo, account, login, permission, teams, seen_at FROM seen_permissions
		WHERE installation = @installation AND repo = @repo AND account = @account AND seen_at > `+db.PaceClock+` - @within::interval`,
		pgx.NamedArgs{"installation": installation, "repo": strings.ToLower(repo), "account": account, "within": within, "fixed": s.db.Fixed()})
	if err != nil {
		return SeenPermission{}, fmt.Errorf("look for the permission of account %d in %s: %w", account, repo, err)
	}
	return seen, nil
}
