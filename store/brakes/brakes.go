// Package brakes stores freezes and breakers, which keep creates from starting. Each change also has the waiting clusters reconciled, in the same
// transaction: whoever decides later sees it.
package brakes

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Store reads and writes brakes. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the part of a store that works on its database.
func New(d *db.DB) *Store { return &Store{d} }

// Freeze keeps creates from beginning at a place for that long, and returns the brake as kept. drained ends what lives there; nil: nothing.
// *ShortFreezeError: the freeze would be over before that.
func (s *Store) Freeze(ctx context.Context, where lifecycle.Place, length time.Duration, drained *Drain, d clusters.Origin) (b lifecycle.Brake, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		if err := c.TakeLocks(ctx, []string{Lock}); err != nil {
			return err
		}
		since := db.Round(c.Now).UTC()
		b = lifecycle.Brake{ID: db.NewID("frz"), Kind: lifecycle.Freeze, Where: where, By: d.DisplayName(), Words: d.Why, Since: since, Until: since.Add(length.Round(time.Microsecond))}
		if drained != nil {
			in := drained.In
			if in == 0 {
				if in, err = longestGrace(ctx, c, where); err != nil {
					return err
				}
			}
			if b.DrainAt = since.Add(in.Round(time.Microsecond)); b.DrainAt.After(b.Until) {
				return &ShortFreezeError{in}
			}
		}
		args := placeArgs(where)
		maps.Copy(args, pgx.NamedArgs{"id": b.ID, "words": b.Words, "by": b.By, "since": b.Since, "until": b.Until, "drain": db.Null(b.DrainAt)})
		_, err := c.Exec(ctx, `
			INSERT INTO freezes (id, platform, account, region, profile, team, words, frozen_by, since, until, drain_at)
			VALUES (@id, @platform, @account, @region, @profile, @team, @words, @by, @since, @until, @drain)`, args)
		if err != nil {
			return err
		}
		if err := clusters.RecordAction(c, d, "frozen", "", clusters.Action{After: b, Note: where.String()}); err != nil {
			return err
		}
		if err := ReconcileWaiting(ctx, c); err != nil || drained == nil {
			return err
		}
		return drainPlace(ctx, c, b, d) // afterwards, because what began meanwhile lives now
	})
	if err != nil {
		return lifecycle.Brake{}, fmt.Errorf("freeze: %w", err)
	}
	return b, nil
}

// Thaw ends a freeze or closes a breaker; an empty id: all of them. The ends of a drain that have not come yet are lifted. It returns what it ended. ErrNotFound: the one that is named does not hold.
func (s *Store) Thaw(ctx context.Context, id string, d clusters.Origin) (ended []lifecycle.Brake, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		if err := c.TakeLocks(ctx, []string{Lock, breakersLock}); err != nil {
			return err
		}
		rows, err := db.All[freeze](ctx, c, `
			SELECT `+columns+` FROM freezes WHERE thawed_at IS NULL AND until > @now AND (id = @id OR @id = '') ORDER BY id FOR UPDATE`, pgx.NamedArgs{"now": c.Now, "id": id})
		if err != nil {
			return err
		}
		ids := make([]string, 0, len(rows))
		for _, row := range rows {
			ids = append(ids, row.ID)
		}
		if err := liftDrains(ctx, c, ids, d); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, `UPDATE freezes SET thawed_at = @now, thawed_by = @by WHERE id = ANY (@ids)`, pgx.NamedArgs{"now": c.Now, "by": d.DisplayName(), "ids": ids}); err != nil {
			return err
		}
		if ended, err = closeBreakers(ctx, c, id, d); err != nil {
			return err
		}
		for _, row := range rows {
			ended = append(ended, row.brake())
		}
		if len(ended) == 0 && id != "" {
			return db.ErrNotFound
		}
		for _, b := range ended {
			if err := clusters.RecordAction(c, d, "thawed", "", clusters.Action{Before: b, Note: b.Where.String()}); err != nil {
				return err
			}
		}
		return ReconcileWaiting(ctx, c)
	})
	if err != nil {
		return nil, fmt.Errorf("thaw %s: %w", id, err)
	}
	return ended, nil
}

// List returns what holds now, the oldest first.
func (s *Store) List(ctx context.Context) ([]lifecycle.Brake, error) {
	return list(ctx, s.db.Pool(), s.db.Fixed(), "")
}

const columns = `id, platform, account, region, profile, team, words, frozen_by, since, until, drain_at`

type freeze struct {
	ID, Platform, Account, Region, Profile, Team, Words, FrozenBy string
	Since, Until                                                  time.Time
	DrainAt                                                       *time.Time
}

func (f freeze) brake() lifecycle.Brake {
	b := lifecycle.Brake{
		ID: f.ID, Kind: lifecycle.Freeze, By: f.FrozenBy, Words: f.Words, Since: f.Since.UTC(), Until: f.Until.UTC(),
		Where: lifecycle.Place{Platform: f.Platform, Account: f.Account, Region: f.Region, Profile: f.Profile, Team: f.Team},
	}
	if f.DrainAt != nil {
		b.DrainAt = f.DrainAt.UTC()
	}
	return b
}

// list returns what holds at a time (nil: now) for a cluster; empty: for none.
func list(ctx context.Context, from db.Source, at *time.Time, cluster string) ([]lifecycle.Brake, error) {
	rows, err := db.All[freeze](ctx, from, `SELECT `+columns+` FROM freezes WHERE thawed_at IS NULL AND until > coalesce($1::timestamptz, clock_timestamp()) ORDER BY id`, at)
	if err != nil {
		return nil, fmt.Errorf("read the brakes: %w", err)
	}
	out, err := listBreakers(ctx, from, cluster)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		out = append(out, row.brake())
	}
	proofs, err := listProofs(ctx, from, at)
	return append(out, proofs...), err
}

// listProofs returns the brakes that the accounts' first proofs are: what is to be created there waits until the first of this version of the
// document ended. No wait is without end.
func listProofs(ctx context.Context, from db.Source, at *time.Time) (out []lifecycle.Brake, err error) {
	rows, err := db.All[struct {
		ID, Platform, Account string
		OpenedAt              time.Time
	}](ctx, from, `
		SELECT id, platform, account, opened_at FROM proofs p WHERE closed_at IS NULL AND NOT used
			AND opened_at > coalesce($1::timestamptz, clock_timestamp()) - make_interval(secs => $2)
			AND NOT EXISTS (SELECT FROM proofs v WHERE (v.platform, v.account, v.version) = (p.platform, p.account, p.version) AND v.closed_at IS NOT NULL) ORDER BY id`,
		at, lifecycle.LongestProof.Seconds())
	if err != nil {
		return nil, fmt.Errorf("read which accounts are being proven: %w", err)
	}
	for _, r := range rows {
		since := r.OpenedAt.UTC()
		out = append(out, lifecycle.Brake{
			ID: r.ID, Kind: lifecycle.Proof, Where: lifecycle.Place{Platform: r.Platform, Account: r.Account}, Since: since, Until: since.Add(lifecycle.LongestProof),
		})
	}
	return out, nil
}

// HoldingFor returns the brake that keeps a cluster's create from beginning now; nil: none does.
func HoldingFor(ctx context.Context, from db.Source, cluster string, now time.Time) (*lifecycle.Brake, error) {
	all, err := list(ctx, from, &now, cluster)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	where, err := db.One[lifecycle.Place](ctx, from, `
		SELECT platform, coalesce(spec ->> 'account', '') AS account, region, profile, team, version FROM clusters WHERE id = $1`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read where %s is to be created: %w", cluster, err)
	}
	return lifecycle.BrakeAt(all, where, now), nil
}

// ReconcileWaiting reconciles every cluster whose create has not begun. Their rows are locked until the brake is committed, so that a decision
// which begins a create is applied before it, or sees it.
func ReconcileWaiting(ctx context.Context, c *db.Tx) error {
	waiting, err := db.All[struct{ ID string }](ctx, c, `
		SELECT id FROM clusters c WHERE destroyed_at IS NULL AND desired = 'present' AND status IN ('PENDING', 'CREATING')
			AND NOT EXISTS (SELECT FROM attempts a WHERE a.cluster_id = c.id AND a.closed_at IS NULL) ORDER BY id FOR NO KEY UPDATE`)
	if err != nil {
		return fmt.Errorf("read who waits: %w", err)
	}
	ids := make([]string, 0, len(waiting))
	for _, one := range waiting {
		ids = append(ids, one.ID)
	}
	return clusters.RequestReconciles(ctx, c, ids)
}
