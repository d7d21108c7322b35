package runs

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Note writes down the run that a verified token names, if it was not known, and returns what is known of it. Nothing follows from it.
func (s *Store) Note(ctx context.Context, ref Ref) (run Run, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		args, err := writeDown(ctx, c, ref)
		if err != nil {
			return err
		}
		run, err = db.One[Run](ctx, c, byToken, args)
		return err
	})
	if err != nil {
		return Run{}, fmt.Errorf("note run %s of %s: %w", ref.Key, ref.Scope, err)
	}
	return run, nil
}

// byToken selects the run that a token names.
const byToken = `SELECT ` + runColumns + ` FROM runs r WHERE platform = @platform AND issuer = @issuer AND scope = @scope AND key = @key`

// writeDown writes down a run that was not known, and returns the arguments that name it.
func writeDown(ctx context.Context, c *db.Tx, ref Ref) (pgx.NamedArgs, error) {
	args := pgx.NamedArgs{
		"id": db.NewID("run"), "platform": ref.Platform, "issuer": ref.Issuer, "scope": ref.Scope, "key": ref.Key, "repo": ref.Repo, "name": ref.Name,
		"url": ref.URL, "event": ref.Event, "ref": ref.Ref, "head": ref.Head, "number": ref.Number, "actor": ref.Actor, "attempt": ref.Attempt,
		"unwatched": ref.Unwatched, "now": c.Now,
	}
	_, err := c.Exec(ctx, `
		INSERT INTO runs (id, platform, issuer, scope, key, repo, name, url, event, ref, head, number, actor, attempt, seen_at, created_at, unwatched)
		VALUES (@id, @platform, @issuer, @scope, @key, @repo, @name, @url, @event, @ref, @head, @number, @actor, @attempt, @now, @now,
			coalesce(nullif(@unwatched, ''), (SELECT o.unwatched FROM runs o
				WHERE o.platform = @platform AND o.scope = @scope AND o.issuer = @issuer ORDER BY o.seen_at DESC LIMIT 1), ''))
		ON CONFLICT (platform, scope, key, issuer) DO NOTHING`, args)
	if err != nil {
		return nil, fmt.Errorf("write down the run: %w", err)
	}
	return args, nil
}

// ShownAt stores the commit at which the platform shows a run.
func (s *Store) ShownAt(ctx context.Context, run, sha string) error {
	if _, err := s.db.Pool().Exec(ctx, `UPDATE runs SET head_sha = $2 WHERE id = $1`, run, sha); err != nil {
		return fmt.Errorf("store the commit of run %s: %w", run, err)
	}
	return nil
}

// Renamed writes the new name of a repository of GitHub over that of its runs: another repository may get the old one, and its runs would be
// asked about there. scope is the repository's id, from its name until now.
func (s *Store) Renamed(ctx context.Context, scope, from, to string) error {
	_, err := s.db.Pool().Exec(ctx, `
		UPDATE runs SET repo = @to, url = replace(url, '/' || repo || '/actions/', '/' || @to || '/actions/')
		WHERE platform = @platform AND scope = @scope AND repo <> @to AND (repo = @from OR installation <> 0)`, // the App is on one GitHub, and ids are of one
		pgx.NamedArgs{"platform": lifecycle.GitHub, "scope": scope, "from": from, "to": to})
	if err != nil {
		return fmt.Errorf("rename the runs of %s to %s: %w", from, to, err)
	}
	return nil
}
