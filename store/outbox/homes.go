package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/db"
)

// Home is what the app's Home shows to a person in Slack.
type Home struct {
	Workspace, Person string
	Principal         string   // who that is; empty: nobody ocpctl knows
	Teams             []string // whose clusters it shows
	Every             bool     // it shows every team's
	Content           string   // SHA-256 of what it shows, hex
}

const (
	homeFor   = 24 * time.Hour   // how long after it was opened a Home is kept up to date
	homePause = 10 * time.Second // between two updates that nobody waits for
	mostHomes = 200              // that are enqueued at once; the others follow
)

// OpenHome notes that a person opened the app's Home, and enqueues that it is shown.
func (s *Store) OpenHome(ctx context.Context, workspace, person string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		_, err := c.Exec(ctx, `
			INSERT INTO slack_homes (workspace, person, opened_at) VALUES ($1, $2, $3)
			ON CONFLICT (workspace, person) DO UPDATE SET opened_at = $3`, workspace, person, c.Now)
		c.Enqueue(queue.HomeArgs{Workspace: workspace, Person: person})
		return err
	})
	if err != nil {
		return fmt.Errorf("note that %s opened Home: %w", person, err)
	}
	return nil
}

// HomeContent returns the hash of what a person's Home shows, if they opened it in the last day.
func (s *Store) HomeContent(ctx context.Context, workspace, person string) (content string, recent bool, err error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return "", false, fmt.Errorf("read the clock: %w", err)
	}
	rows, err := s.db.Pool().Query(ctx, `SELECT content FROM slack_homes WHERE workspace = $1 AND person = $2 AND opened_at > $3`, workspace, person, now.Add(-homeFor))
	if err == nil {
		var found []string
		found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		if len(found) > 0 {
			content, recent = found[0], true
		}
	}
	if err != nil {
		return "", false, fmt.Errorf("read the Home of %s: %w", person, err)
	}
	return content, recent, nil
}

// HomeShown notes what a person's Home shows. at is a time from which on nothing was read for it: what changes after that is shown
// again.
func (s *Store) HomeShown(ctx context.Context, h Home, at time.Time) error {
	if h.Teams == nil {
		h.Teams = []string{}
	}
	_, err := s.db.Pool().Exec(ctx, `
		UPDATE slack_homes SET shown_at = greatest(shown_at, $3), principal = $4, teams = $5, every = $6, content = $7 WHERE workspace = $1 AND person = $2`,
		h.Workspace, h.Person, at, h.Principal, h.Teams, h.Every, h.Content)
	if err != nil {
		return fmt.Errorf("note what the Home of %s shows: %w", h.Person, err)
	}
	return nil
}

// RefreshHome enqueues that a person's Home is shown again, if they opened it in the last day.
func (s *Store) RefreshHome(ctx context.Context, workspace, person string) error {
	_, recent, err := s.HomeContent(ctx, workspace, person)
	if err != nil || !recent {
		return err
	}
	return s.db.Write(ctx, func(c *db.Tx) error {
		c.Enqueue(queue.HomeArgs{Workspace: workspace, Person: person})
		return nil
	})
}

// RefreshHomes enqueues the Homes that show a cluster which changed since, and returns how many.
func (s *Store) RefreshHomes(ctx context.Context) (n int, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		since, any, err := oldestHome(ctx, c)
		if err != nil || !any {
			return err
		}
		rows, err := c.Query(ctx, `
			WITH changes AS MATERIALIZED (SELECT team, requested_by, max(updated_at) AS at FROM clusters WHERE updated_at > @since GROUP BY team, requested_by)
			SELECT h.workspace, h.person FROM slack_homes h
			WHERE h.opened_at > @opened AND h.shown_at < @shown AND EXISTS (
				SELECT FROM changes c WHERE c.at > h.shown_at AND (h.every OR c.team = ANY(h.teams) OR principal_key(c.requested_by) = principal_key(h.principal)))
			ORDER BY h.shown_at LIMIT @most`,
			pgx.NamedArgs{"since": since, "opened": c.Now.Add(-homeFor), "shown": c.Now.Add(-homePause), "most": mostHomes})
		if err != nil {
			return err
		}
		behind, err := pgx.CollectRows(rows, pgx.RowToStructByPos[queue.HomeArgs])
		for _, one := range behind {
			c.Enqueue(one)
		}
		n = len(behind)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("look for Homes that show what changed: %w", err)
	}
	return n, nil
}

// oldestHome returns since when the oldest Home that may be updated shows what it shows; any: there is one.
func oldestHome(ctx context.Context, c *db.Tx) (since time.Time, any bool, err error) {
	var at *time.Time
	err = c.QueryRow(ctx, `SELECT min(shown_at) FROM slack_homes WHERE opened_at > $1 AND shown_at < $2 AND shown_at > '-infinity'`,
		c.Now.Add(-homeFor), c.Now.Add(-homePause)).Scan(&at)
	if err != nil || at == nil {
		return time.Time{}, false, err
	}
	return *at, true, nil
}
