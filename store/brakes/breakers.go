package brakes

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/lifecycle/breaker"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

const breakerColumns = `id, platform, account, region, profile, version, code, whose, failures, since, until, probes, coalesce(probe, '') AS probe, probe_at, closed_at`

// breakerRow is a breaker as kept.
type breakerRow struct {
	ID, Platform, Account, Region, Profile, Version, Code, Whose string
	Failures, Probes                                             int
	Since, Until                                                 time.Time
	Probe                                                        string
	ProbeAt, ClosedAt                                            *time.Time
}

func (r breakerRow) state() breaker.State {
	return breaker.State{
		ID: r.ID, Code: r.Code, Whose: r.Whose, Failures: r.Failures, Since: r.Since.UTC(), Until: r.Until.UTC(), Probes: r.Probes, Probe: r.Probe,
		ProbeAt: db.Zero(r.ProbeAt), ClosedAt: db.Zero(r.ClosedAt),
		Where: lifecycle.Place{Platform: r.Platform, Account: r.Account, Region: r.Region, Profile: r.Profile, Version: r.Version},
	}
}

func (r breakerRow) brake() lifecycle.Brake {
	s := r.state()
	return lifecycle.Brake{ID: s.ID, Kind: lifecycle.Breaker, Where: s.Where, Code: s.Code, Failures: s.Failures, Since: s.Since, Until: s.Until}
}

// breakersLock is the name of the lock under which breakers change.
const breakersLock = "breakers"

// Advance opens, tries and closes breakers, and returns what it changed. Only one runs at a time, in any process.
func (s *Store) Advance(ctx context.Context, l breaker.Limits) (changes []breaker.Change, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		if err := c.TakeLocks(ctx, []string{breakersLock}); err != nil {
			return err
		}
		facts, err := readFacts(ctx, c)
		if err != nil {
			return err
		}
		changes = breaker.Decide(facts, l)
		for i := range changes {
			if err := writeChange(ctx, c, &changes[i]); err != nil {
				return err
			}
		}
		if len(changes) == 0 {
			return nil
		}
		return ReconcileWaiting(ctx, c)
	})
	if err != nil {
		return nil, fmt.Errorf("advance the breakers: %w", err)
	}
	return changes, nil
}

// readFacts reads what breakers depend on, behind the lock. While none is open, what succeeded before the first failure changes nothing; without a
// failure, nothing does.
func readFacts(ctx context.Context, c *db.Tx) (f breaker.Facts, err error) {
	f = breaker.Facts{Now: db.Round(c.Now), Probing: map[string]breaker.Probing{}}
	from := pgx.NamedArgs{"from": c.Now.Add(-breaker.Window)}
	var first *time.Time
	if err := c.QueryRow(ctx, `
		SELECT least((SELECT min(closed_at) FROM attempts WHERE closed_at > @from AND kind = 'create' AND outcome IN ('failed', 'lost')),
			(SELECT min(since) FROM breakers WHERE closed_at IS NULL))`, from).Scan(&first); err != nil {
		return f, fmt.Errorf("look whether a create failed: %w", err)
	}
	if first == nil {
		return f, nil
	}
	if oldest := c.Now.Add(-breaker.Window); first.Before(oldest) {
		first = &oldest
	}
	rows, err := db.All[breakerRow](ctx, c, `SELECT `+breakerColumns+` FROM breakers WHERE closed_at IS NULL OR closed_at > @from ORDER BY id`, from)
	if err != nil {
		return f, fmt.Errorf("read the breakers: %w", err)
	}
	for _, r := range rows {
		f.States = append(f.States, r.state())
	}
	tries, err := db.All[struct {
		Cluster string
		lifecycle.Place
		Began, At   time.Time
		Outcome     lifecycle.Outcome
		Code, Whose string
	}](ctx, c, `
		SELECT c.id AS cluster, c.platform, coalesce(c.spec ->> 'account', '') AS account, c.region, c.profile, c.version, c.team,
			a.opened_at AS began, a.closed_at AS at, a.outcome, a.reason AS code, a.whose
		FROM attempts a JOIN clusters c ON c.id = a.cluster_id
		WHERE a.id IN (SELECT id FROM attempts WHERE closed_at >= @from AND kind = 'create' AND outcome = 'succeeded'
			UNION SELECT id FROM attempts WHERE closed_at >= @from AND kind = 'create' AND outcome IN ('failed', 'lost')
			UNION SELECT id FROM attempts WHERE closed_at >= @from AND kind = 'create' AND cluster_id IN (SELECT probe FROM breakers WHERE closed_at IS NULL))
		ORDER BY a.closed_at, a.id`, pgx.NamedArgs{"from": *first})
	if err != nil {
		return f, fmt.Errorf("read how creates went: %w", err)
	}
	for _, t := range tries {
		f.Tries = append(f.Tries, breaker.Try(t))
	}
	if f.Waiting, err = db.All[breaker.Waiter](ctx, c, `
		SELECT id AS cluster, platform, coalesce(spec ->> 'account', '') AS account, region, profile, version, team, why #>> '{brake,id}' AS brake, created_at AS since FROM clusters
		WHERE destroyed_at IS NULL AND desired = 'present' AND why ? 'brake' AND status IN ('PENDING', 'CREATING')`); err != nil {
		return f, fmt.Errorf("read who waits for breakers: %w", err)
	}
	probing, err := db.All[struct {
		ID           string
		Wanted, Runs bool
	}](ctx, c, `
		SELECT c.id, c.desired = 'present' AS wanted, EXISTS (SELECT FROM attempts a WHERE a.cluster_id = c.id AND a.kind = 'create' AND a.closed_at IS NULL) AS runs
		FROM clusters c WHERE c.id IN (SELECT probe FROM breakers WHERE closed_at IS NULL)`)
	if err != nil {
		return f, fmt.Errorf("read what is tried: %w", err)
	}
	for _, p := range probing {
		f.Probing[p.ID] = breaker.Probing{Wanted: p.Wanted, Runs: p.Runs}
	}
	return f, nil
}

// writeChange stores a change, with its line in the audit trail.
func writeChange(ctx context.Context, c *db.Tx, change *breaker.Change) error {
	s := &change.State
	if change.Event == breaker.Opened {
		s.ID = db.NewID("brk")
	}
	_, err := c.Exec(ctx, `
		INSERT INTO breakers AS b (id, platform, account, region, profile, version, code, whose, failures, since, until, probes)
		VALUES (@id, @platform, @account, @region, @profile, @version, @code, @whose, @failures, @since, @until, @probes)
		ON CONFLICT (id) DO UPDATE SET failures = excluded.failures, until = excluded.until, probes = excluded.probes,
			probe = nullif(@probe, ''), probe_at = @probe_at, closed_at = @closed_at`,
		pgx.NamedArgs{
			"id": s.ID, "platform": s.Where.Platform, "account": s.Where.Account, "region": s.Where.Region, "profile": s.Where.Profile, "version": s.Where.Version,
			"code": s.Code, "whose": s.Whose, "failures": s.Failures, "since": s.Since, "until": s.Until, "probes": s.Probes,
			"probe": s.Probe, "probe_at": db.Null(s.ProbeAt), "closed_at": db.Null(s.ClosedAt),
		})
	if err != nil {
		return fmt.Errorf("store the breaker %s: %w", s.ID, err)
	}
	line := clusters.Action{Move: db.Move{Why: s.Code}, After: s, Note: s.Where.String()}
	return c.RecordLine(db.Lifecycle, "breaker_"+string(change.Event), "", s.Probe, line)
}

// Findings returns the open breakers as what people should know.
func (s *Store) Findings(ctx context.Context) (found []lifecycle.Finding, err error) {
	all, err := s.List(ctx)
	for _, b := range all {
		if b.Kind == lifecycle.Breaker {
			found = append(found, lifecycle.Finding{Kind: lifecycle.BreakerOpen, Identity: b.ID, Since: b.Since, Why: b.String()})
		}
	}
	return found, err
}

// listBreakers returns the open breakers. One that tries the cluster does not keep it from beginning one create.
func listBreakers(ctx context.Context, from db.Source, cluster string) (out []lifecycle.Brake, err error) {
	rows, err := db.All[breakerRow](ctx, from, `
		SELECT `+breakerColumns+` FROM breakers b WHERE closed_at IS NULL AND NOT (probe IS NOT NULL AND probe = $1
			AND NOT EXISTS (SELECT FROM attempts a WHERE a.cluster_id = b.probe AND a.kind = 'create' AND a.opened_at >= b.probe_at)) ORDER BY id`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read the breakers: %w", err)
	}
	for _, r := range rows {
		out = append(out, r.brake())
	}
	return out, nil
}

// closeBreakers closes a breaker for an admin, who holds breakersLock; an empty id: all of them.
func closeBreakers(ctx context.Context, c *db.Tx, id string, d clusters.Origin) ([]lifecycle.Brake, error) {
	rows, err := db.All[breakerRow](ctx, c, `
		UPDATE breakers SET closed_at = @now, closed_by = @by, probe = NULL, probe_at = NULL WHERE closed_at IS NULL AND (id = @id OR @id = '') RETURNING `+breakerColumns,
		pgx.NamedArgs{"now": c.Now, "by": d.DisplayName(), "id": id})
	if err != nil {
		return nil, fmt.Errorf("close breakers: %w", err)
	}
	var ended []lifecycle.Brake
	for _, r := range rows {
		ended = append(ended, r.brake())
	}
	return ended, nil
}
