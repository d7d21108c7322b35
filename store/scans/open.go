package scans

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Schedule is who asks for a scan that nobody asked for.
const Schedule = "schedule"

// Wanted is an account to look through.
type Wanted struct {
	Platform, Account string
	Spec              Spec
}

// Open opens a scan of an account on somebody's request. It begins once the scans that were opened before have ended. already: one is
// open, and it is returned.
func (s *Store) Open(ctx context.Context, w Wanted, d clusters.Origin) (scan Scan, already bool, err error) {
	var id string
	err = s.db.Write(ctx, func(c *db.Tx) (err error) {
		if id, already, err = open(ctx, c, w, d.Actor); err != nil || already {
			return err
		}
		return clusters.RecordAction(c, d, "asked for a scan", "", clusters.Action{After: map[string]string{"scan": id, "platform": w.Platform, "account": w.Account}})
	})
	if err == nil {
		scan, err = s.Scan(ctx, id)
	}
	if err != nil {
		return Scan{}, false, fmt.Errorf("open a scan of account %s: %w", w.Account, err)
	}
	return scan, already, nil
}

// OpenDue opens a scan of each account whose newest one was opened that long ago or more, and returns how many.
func (s *Store) OpenDue(ctx context.Context, accounts []Wanted, every time.Duration) (opened int, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		opened = 0
		for _, w := range accounts {
			var newest *time.Time
			err := c.QueryRow(ctx, `SELECT max(opened_at) FROM scans WHERE platform = $1 AND account = $2`, w.Platform, w.Account).Scan(&newest)
			if err != nil {
				return err
			}
			if newest != nil && c.Now.Sub(*newest) < every {
				continue
			}
			_, already, err := open(ctx, c, w, Schedule)
			if err != nil {
				return err
			}
			if !already {
				opened++
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("open the scans that are due: %w", err)
	}
	return opened, nil
}

func open(ctx context.Context, c *db.Tx, w Wanted, by string) (id string, already bool, err error) {
	args := pgx.NamedArgs{
		"id": db.NewID(idPrefix), "platform": w.Platform, "account": w.Account, "by": by, "spec": w.Spec, "now": c.Now, "token": ulid.Make().String(),
	}
	err = c.QueryRow(ctx, `
		INSERT INTO scans (id, platform, account, round, asked_by, spec, opened_at, runner_since, token_id)
		SELECT @id, @platform, @account, coalesce(max(round), 0) + 1, @by, @spec, @now, @now, @token FROM scans WHERE platform = @platform AND account = @account
		ON CONFLICT (platform, account) WHERE closed_at IS NULL DO NOTHING RETURNING id`, args).Scan(&id)
	if !errors.Is(err, pgx.ErrNoRows) {
		c.Enqueue(queue.RunScansArgs{News: "opened " + id})
		return id, false, err
	}
	err = c.QueryRow(ctx, `SELECT id FROM scans WHERE platform = @platform AND account = @account AND closed_at IS NULL`, args).Scan(&id)
	return id, true, err
}

const scanColumns = `id, platform, account, round, asked_by, spec, opened_at, runner, runner_since, token_id, launched_at, launch_trouble,
	claimed_by, claimed_at, lease_until, regions, calls, slowed, resources, closed_at, outcome, reason, message, next, judged_at`

// Scan returns one scan, or the run of a proof. ErrNotFound: there is none of that id.
func (s *Store) Scan(ctx context.Context, id string) (Scan, error) {
	table, columns := rowOf(id)
	scan, err := db.One[Scan](ctx, s.db.Pool(), `SELECT `+columns+` FROM `+table+` WHERE id = $1`, id)
	if err != nil {
		return Scan{}, fmt.Errorf("read scan %s: %w", id, err)
	}
	return scan, nil
}

// Scans returns the newest scans, the newest first: of one account, or of all (an empty account).
func (s *Store) Scans(ctx context.Context, account string, limit int) ([]Scan, error) {
	list, err := db.All[Scan](ctx, s.db.Pool(), `
		SELECT `+scanColumns+` FROM scans WHERE $1 IN ('', account) ORDER BY opened_at DESC, id DESC LIMIT $2`, account, db.PageOf(limit))
	if err != nil {
		return nil, fmt.Errorf("list scans: %w", err)
	}
	return list, nil
}

// InTurn returns the open scan that was opened first: the others wait for its end. ErrNotFound: none is open.
func (s *Store) InTurn(ctx context.Context) (Scan, error) {
	scan, err := db.One[Scan](ctx, s.db.Pool(), `SELECT `+scanColumns+` FROM scans WHERE closed_at IS NULL ORDER BY opened_at, id LIMIT 1`)
	if err != nil {
		return Scan{}, fmt.Errorf("look for an open scan: %w", err)
	}
	return scan, nil
}

// Turn returns since when it is the scan's turn, if that many run at once: its opening, or the end of the last one that it waited for.
func (s *Store) Turn(ctx context.Context, scan Scan, atOnce int) (since time.Time, err error) {
	table, _ := rowOf(scan.ID)
	err = s.db.Pool().QueryRow(ctx, `
		SELECT greatest($2::timestamptz, (SELECT closed_at FROM `+table+` WHERE (opened_at, id) < ($2::timestamptz, $1)
			ORDER BY closed_at DESC NULLS FIRST OFFSET $3 LIMIT 1))`, scan.ID, scan.OpenedAt, atOnce-1).Scan(&since)
	if err != nil {
		return since, fmt.Errorf("look for the turn of scan %s: %w", scan.ID, err)
	}
	return since, nil
}

// Unjudged returns the ids of closed scans that were not judged, the oldest first.
func (s *Store) Unjudged(ctx context.Context) (ids []string, err error) {
	rows, _ := s.db.Pool().Query(ctx, `SELECT id FROM scans WHERE closed_at IS NOT NULL AND judged_at IS NULL ORDER BY opened_at, id LIMIT 100`) // the rows return its error
	if ids, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		return nil, fmt.Errorf("look for scans to judge: %w", err)
	}
	return ids, nil
}

// Parts returns what a scan looked at, by name.
func (s *Store) Parts(ctx context.Context, id string) ([]Part, error) {
	parts, err := db.All[Part](ctx, s.db.Pool(), `SELECT name, runner, resources, calls, done_at, err FROM scan_parts WHERE scan_id = $1 ORDER BY name`, id)
	if err != nil {
		return nil, fmt.Errorf("read the parts of scan %s: %w", id, err)
	}
	return parts, nil
}

// AskToLaunch asks for the start of the scan's runner.
func (s *Store) AskToLaunch(ctx context.Context, id string, runner int) error {
	return s.db.Write(ctx, func(c *db.Tx) error {
		c.Enqueue(queue.LaunchScanArgs{Scan: id, Runner: runner})
		return nil
	})
}

// AskToJudge asks for the comparison of what a scan saw with what is known.
func (s *Store) AskToJudge(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(c *db.Tx) error {
		c.Enqueue(queue.JudgeScanArgs{Scan: id})
		return nil
	})
}
