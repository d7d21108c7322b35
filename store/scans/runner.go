package scans

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
)

// Launched stores that a runner was started.
func (s *Store) Launched(ctx context.Context, id string, runner int) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		table, _ := rowOf(id)
		_, err := c.Exec(ctx, `
			UPDATE `+table+` SET launched_at = coalesce(launched_at, $3), launch_trouble = NULL WHERE id = $1 AND runner = $2 AND closed_at IS NULL`, id, runner, c.Now)
		return err
	})
	if err != nil {
		return fmt.Errorf("store the start of scan %s: %w", id, err)
	}
	return nil
}

// LaunchTroubled stores why a runner could not be started, or does not come up.
func (s *Store) LaunchTroubled(ctx context.Context, id string, runner int, why lifecycle.Trouble) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		table, _ := rowOf(id)
		_, err := c.Exec(ctx, `
			UPDATE `+table+` SET launch_trouble = $3 WHERE id = $1 AND runner = $2 AND closed_at IS NULL AND launch_trouble IS DISTINCT FROM $3`, id, runner, why)
		return err
	})
	if err != nil {
		return fmt.Errorf("store why scan %s was not started: %w", id, err)
	}
	return nil
}

// Replace gives the scan to another runner, because this one was lost, and asks for its start. What was reported stays. The lost one is
// fenced. It does nothing if the scan has another runner, or ended.
func (s *Store) Replace(ctx context.Context, id string, runner int) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		table, _ := rowOf(id)
		tag, err := c.Exec(ctx, `
			UPDATE `+table+` SET runner = runner + 1, runner_since = $3, token_id = $4, launched_at = NULL, launch_trouble = NULL,
				claimed_by = NULL, claimed_at = NULL, lease_until = NULL
			WHERE id = $1 AND runner = $2 AND closed_at IS NULL`, id, runner, c.Now, ulid.Make().String())
		if err == nil && tag.RowsAffected() == 1 {
			c.Enqueue(queue.LaunchScanArgs{Scan: id, Runner: runner + 1})
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("replace the runner of scan %s: %w", id, err)
	}
	return nil
}

// locked is a scan that the change holds.
type locked struct {
	Scan
	stop string // why its runner has to stop; empty: go on
}

// lock locks the scan of a runner. ErrFenced: the token is not its newest runner's.
func lock(ctx context.Context, c *db.Tx, id, token string) (locked, error) {
	table, columns := rowOf(id)
	scan, err := db.One[Scan](ctx, c, `SELECT `+columns+` FROM `+table+` WHERE id = $1 FOR UPDATE`, id)
	switch {
	case err != nil:
		return locked{}, err
	case scan.TokenID != token:
		return locked{}, fmt.Errorf("another runner goes on with it: %w", db.ErrFenced)
	case scan.ClosedAt != nil:
		return locked{scan, "the scan has ended: " + whyEnded(scan)}, nil
	}
	return locked{Scan: scan}, nil
}

func whyEnded(s Scan) string {
	if s.Message != "" {
		return s.Message
	}
	return string(*s.Outcome)
}

// Claim gives the scan to the first pod of its newest runner. ErrFenced: another has it, or it has ended.
func (s *Store) Claim(ctx context.Context, id, token, pod string) (lease attempts.Lease, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		scan, err := lock(ctx, c, id, token)
		switch {
		case err != nil:
			return err
		case scan.stop != "":
			return fmt.Errorf("%s: %w", scan.stop, db.ErrFenced)
		case scan.ClaimedBy != nil && *scan.ClaimedBy != pod:
			return fmt.Errorf("it is claimed by %s: %w", *scan.ClaimedBy, db.ErrFenced)
		}
		lease = attempts.Lease{Until: leaseEnd(c)}
		table, _ := rowOf(id)
		_, err = c.Exec(ctx, `UPDATE `+table+` SET claimed_by = $2, claimed_at = coalesce(claimed_at, $3), lease_until = $4 WHERE id = $1`, id, pod, c.Now, lease.Until)
		return err
	})
	if err != nil {
		return attempts.Lease{}, fmt.Errorf("claim scan %s: %w", id, err)
	}
	return lease, nil
}

func leaseEnd(c *db.Tx) time.Time { return c.Now.Add(c.DB.Options.Lease) }

// ReportRow is one report of a runner.
type ReportRow struct {
	Seq  int
	Part *PartRow // nil: it shows no resources
	Room *RoomRow // nil: it measured nothing; both nil: a heartbeat
}

// PartRow is one page of a part, or all of it.
type PartRow struct {
	Name      string // <region>/<service>
	Resources []ResourceRow
	Last      bool // no more pages follow
	Calls     int
	Err       string // why it is incomplete
}

// RoomRow is what the account's limits are for a cluster of a profile in a region.
type RoomRow struct {
	Profile, Region string
	Quotas          []lifecycle.Quota
}

// ResourceRow is one resource. Each id occurs once in a page.
type ResourceRow struct {
	ID  string
	Raw json.RawMessage // contract.SeenResource
}

// Report stores what a runner saw and renews its lease. A repeated seq only renews. The report of a scan that ended is answered with stop
// and not stored.
func (s *Store) Report(ctx context.Context, id, token string, r ReportRow) (lease attempts.Lease, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		scan, err := lock(ctx, c, id, token)
		switch {
		case err != nil:
			return err
		case scan.stop != "":
			lease = attempts.Lease{Stop: scan.stop, Closed: true}
			return nil
		case scan.ClaimedBy == nil:
			return fmt.Errorf("nobody claimed it: %w", db.ErrFenced)
		}
		if err := keepReport(ctx, c, scan, r); err != nil {
			return err
		}
		lease = attempts.Lease{Until: leaseEnd(c)}
		table, _ := rowOf(id)
		_, err = c.Exec(ctx, `UPDATE `+table+` SET lease_until = $2 WHERE id = $1`, id, lease.Until)
		return err
	})
	if err != nil {
		return attempts.Lease{}, fmt.Errorf("report %d of scan %s: %w", r.Seq, id, err)
	}
	return lease, nil
}

// keepReport writes what a report shows, once. A proof shows no parts, and what it measures may come twice.
func keepReport(ctx context.Context, c *db.Tx, scan locked, r ReportRow) error {
	if !IsProof(scan.ID) {
		tag, err := c.Exec(ctx, `INSERT INTO scan_reports (scan_id, runner, seq) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, scan.ID, scan.Runner, r.Seq)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if r.Part != nil {
			if err := keepPart(ctx, c, scan, *r.Part); err != nil {
				return err
			}
		}
	}
	if r.Room != nil {
		return keepRoom(ctx, c, scan, *r.Room)
	}
	return nil
}

func keepRoom(ctx context.Context, c *db.Tx, scan locked, r RoomRow) error {
	_, err := c.Exec(ctx, `
		INSERT INTO rooms (account, region, profile, platform, items, measured_at) VALUES (@account, @region, @profile, @platform, @items, @now)
		ON CONFLICT (account, region, profile) DO UPDATE SET platform = excluded.platform, items = excluded.items, measured_at = excluded.measured_at`,
		pgx.NamedArgs{"account": scan.Account, "region": r.Region, "profile": r.Profile, "platform": scan.Platform, "items": r.Quotas, "now": c.Now})
	if err != nil {
		return fmt.Errorf("keep the room for %s in %s: %w", r.Profile, r.Region, err)
	}
	return nil
}

// keepPart writes a page: what it shows was seen now. A part that another runner begins again counts anew. What is done stays done, and what
// was incomplete is done when another runner reports all of it.
func keepPart(ctx context.Context, c *db.Tx, scan locked, p PartRow) error {
	args := pgx.NamedArgs{
		"scan": scan.ID, "platform": scan.Platform, "account": scan.Account, "runner": scan.Runner, "now": c.Now,
		"part": p.Name, "count": len(p.Resources), "calls": p.Calls, "last": p.Last, "err": p.Err,
	}
	_, err := c.Exec(ctx, `
		INSERT INTO scan_parts AS p (scan_id, name, runner, resources, calls, done_at, err)
		VALUES (@scan, @part, @runner, @count, @calls, CASE WHEN @last THEN @now::timestamptz END, @err)
		ON CONFLICT (scan_id, name) DO UPDATE SET runner = excluded.runner, calls = p.calls + excluded.calls,
			resources = CASE WHEN p.runner = excluded.runner THEN p.resources ELSE 0 END + excluded.resources,
			done_at = coalesce(p.done_at, excluded.done_at), err = CASE WHEN p.done_at IS NULL OR excluded.done_at IS NOT NULL AND excluded.err = '' THEN excluded.err ELSE p.err END`, args)
	if err != nil {
		return fmt.Errorf("keep part %s: %w", p.Name, err)
	}
	if len(p.Resources) == 0 {
		return nil
	}
	ids, raw := make([]string, len(p.Resources)), make([]string, len(p.Resources))
	for i, r := range p.Resources {
		ids[i], raw[i] = r.ID, string(db.Keepable(r.Raw))
	}
	args["ids"], args["resources"] = ids, raw
	// Two parts can show one resource: what the second one leaves out stays as the first one told it.
	_, err = c.Exec(ctx, `
		INSERT INTO seen AS s (platform, account, id, parts, resource, first_seen_at, last_seen_at, last_scan, sights)
		SELECT @platform, @account, n.id, ARRAY[@part::text], n.resource::jsonb, @now, @now, @scan, 1
		FROM unnest(@ids::text[], @resources::text[]) AS n (id, resource)
		ON CONFLICT (platform, account, id) DO UPDATE SET
			parts = CASE WHEN s.gone_at IS NOT NULL THEN excluded.parts WHEN @part = ANY (s.parts) THEN s.parts ELSE s.parts || excluded.parts END,
			resource = CASE WHEN s.last_scan = @scan THEN s.resource || excluded.resource ELSE excluded.resource END,
			first_seen_at = CASE WHEN s.gone_at IS NULL THEN s.first_seen_at ELSE excluded.first_seen_at END,
			last_seen_at = excluded.last_seen_at, last_scan = excluded.last_scan,
			sights = CASE WHEN s.last_scan = @scan THEN greatest(s.sights, 1) WHEN s.gone_at IS NULL THEN s.sights + 1 ELSE 1 END,
			missed = 0, gone_at = NULL, orphan_id = CASE WHEN s.gone_at IS NULL THEN s.orphan_id END,
			untagged_of = CASE WHEN s.gone_at IS NULL THEN s.untagged_of END, untagged = CASE WHEN s.gone_at IS NULL THEN s.untagged ELSE 0 END`, args)
	if err != nil {
		return fmt.Errorf("keep what part %s showed: %w", p.Name, err)
	}
	return nil
}

// ResultRow ends a scan.
type ResultRow struct {
	Outcome               lifecycle.Outcome
	Reason, Message, Next string
	Regions               []string
	Calls                 map[string]int
	Slowed                int
	Proof                 string // what a proof found out; empty: nothing
}

// Result ends the scan, and asks for a comparison of what it saw with what is known. A repeated result changes nothing.
func (s *Store) Result(ctx context.Context, id, token string, r ResultRow) (lease attempts.Lease, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		scan, err := lock(ctx, c, id, token)
		switch {
		case err != nil:
			return err
		case scan.stop != "":
			lease = attempts.Lease{Stop: scan.stop, Closed: true}
			return nil
		case scan.ClaimedBy == nil:
			return fmt.Errorf("nobody claimed it: %w", db.ErrFenced)
		}
		lease = attempts.Lease{Closed: true}
		return end(ctx, c, scan.Scan, r)
	})
	if err != nil {
		return attempts.Lease{}, fmt.Errorf("end scan %s: %w", id, err)
	}
	return lease, nil
}

// Close ends a scan whose runner does not. It does nothing if the scan has another runner, or ended.
func (s *Store) Close(ctx context.Context, id string, runner int, r ResultRow) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		table, columns := rowOf(id)
		scan, err := db.One[Scan](ctx, c, `SELECT `+columns+` FROM `+table+` WHERE id = $1 AND runner = $2 AND closed_at IS NULL FOR UPDATE`, id, runner)
		if errors.Is(err, db.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return end(ctx, c, scan, r)
	})
	if err != nil {
		return fmt.Errorf("close scan %s: %w", id, err)
	}
	return nil
}

// goneAfter is how many scans in a row have to look completely where a resource was and not see it: an API can leave out a page once.
const goneAfter = 2

// lookedAt are the parts whose resources a scan would have shown: those that it listed completely, and those that no runner lists any more, if
// the scan succeeded and listed their region, and all of that completely. A region without any part may be disabled, and says nothing (ADR 35).
const lookedAt = `
	SELECT name FROM scan_parts WHERE scan_id = @id AND done_at IS NOT NULL AND err = ''
	UNION
	SELECT p.name FROM (SELECT DISTINCT unnest(parts) AS name FROM seen
		WHERE platform = @platform AND account = @account AND gone_at IS NULL AND last_scan <> @id AND @outcome = 'succeeded') p
	WHERE NOT EXISTS (SELECT FROM scan_parts l WHERE l.scan_id = @id AND l.name = p.name)
		AND (SELECT bool_and(l.done_at IS NOT NULL AND l.err = '') FROM scan_parts l
			WHERE l.scan_id = @id AND split_part(l.name, '/', 1) = split_part(p.name, '/', 1))`

func end(ctx context.Context, c *db.Tx, scan Scan, r ResultRow) error {
	if IsProof(scan.ID) {
		return endProof(ctx, c, scan, r)
	}
	if r.Regions == nil {
		r.Regions = []string{}
	}
	if r.Calls == nil {
		r.Calls = map[string]int{}
	}
	args := pgx.NamedArgs{
		"id": scan.ID, "platform": scan.Platform, "account": scan.Account, "now": c.Now, "after": goneAfter, "outcome": r.Outcome,
		"reason": r.Reason, "message": r.Message, "next": r.Next, "regions": r.Regions, "calls": r.Calls, "slowed": r.Slowed,
	}
	_, err := c.Exec(ctx, `
		UPDATE scans SET closed_at = @now, outcome = @outcome, reason = @reason, message = @message, next = @next, regions = @regions, calls = @calls,
			slowed = @slowed, resources = (SELECT count(*) FROM seen WHERE platform = @platform AND account = @account AND last_scan = @id)
		WHERE id = @id`, args)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, `
		UPDATE seen SET missed = missed + 1, sights = 0, gone_at = CASE WHEN missed + 1 >= @after THEN @now::timestamptz END
		WHERE platform = @platform AND account = @account AND gone_at IS NULL AND last_scan <> @id
			AND parts <@ (SELECT coalesce(array_agg(name), '{}') FROM (`+lookedAt+`) AS looked)`, args)
	if err != nil {
		return fmt.Errorf("mark what was not seen: %w", err)
	}
	if _, err := c.Exec(ctx, `DELETE FROM scan_reports WHERE scan_id = $1`, scan.ID); err != nil {
		return err
	}
	c.Enqueue(queue.JudgeScanArgs{Scan: scan.ID}, queue.RunScansArgs{News: "ended " + scan.ID})
	return nil
}
