package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// MissingDeliveries returns which of a source's deliveries never arrived, in the given order.
func (s *Store) MissingDeliveries(ctx context.Context, source string, ids []string) ([]string, error) {
	var missing []string
	err := s.db.Pool().QueryRow(ctx, `
		SELECT coalesce(array_agg(w.id ORDER BY w.nr), '{}') FROM unnest($2::text[]) WITH ORDINALITY AS w (id, nr)
		WHERE NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.source = $1 AND d.delivery_id = w.id)`, source, ids).Scan(&missing)
	if err != nil {
		return nil, fmt.Errorf("look for deliveries of %s that never came: %w", source, err)
	}
	return missing, nil
}

// AskAgain reports whether a delivery may be requested again: at most that many times, with at least that pause. If so, it
// counts as requested.
func (s *Store) AskAgain(ctx context.Context, guid string, most int, pause time.Duration) (bool, error) {
	if most < 1 {
		return false, nil
	}
	tag, err := s.db.Pool().Exec(ctx, `
		INSERT INTO redeliveries AS r (guid, asked, asked_at) VALUES ($1, 1, coalesce($4::timestamptz, clock_timestamp()))
		ON CONFLICT (guid) DO UPDATE SET asked = r.asked + 1, asked_at = excluded.asked_at
		WHERE r.asked < $2 AND r.asked_at <= excluded.asked_at - $3::interval`, guid, most, pause, s.db.Fixed())
	if err != nil {
		return false, fmt.Errorf("ask again for delivery %s: %w", guid, db.Plain(err))
	}
	return tag.RowsAffected() == 1, nil
}

// NotAsked takes back that a delivery was requested again: as far as is known, the request did not reach GitHub. The pause before the next one
// stays, but for the first one.
func (s *Store) NotAsked(ctx context.Context, guid string) error {
	_, err := s.db.Pool().Exec(ctx, `
		WITH first AS (DELETE FROM redeliveries WHERE guid = $1 AND asked = 1)
		UPDATE redeliveries SET asked = asked - 1 WHERE guid = $1 AND asked > 1`, guid)
	if err != nil {
		return fmt.Errorf("take back that delivery %s was asked for: %w", guid, err)
	}
	return nil
}

// The states of requested redeliveries.
const (
	redeliveryCame    = "came"
	redeliveryAwaited = "awaited"
	redeliveryOver    = "given_up" // nothing came for an hour
)

// Redeliveries counts them by state. Those that came are forgotten with the delivery.
func (s *Store) Redeliveries(ctx context.Context) (map[string]int64, error) {
	out := map[string]int64{redeliveryCame: 0, redeliveryAwaited: 0, redeliveryOver: 0}
	groups, err := db.All[db.NamedCount](ctx, s.db.Pool(), `
		SELECT CASE WHEN EXISTS (SELECT 1 FROM deliveries d WHERE d.source = 'github' AND d.delivery_id = r.guid) THEN $1
			WHEN r.asked_at > coalesce($4::timestamptz, clock_timestamp()) - interval '1 hour' THEN $2 ELSE $3 END AS name, count(*) AS n
		FROM redeliveries r GROUP BY 1`, redeliveryCame, redeliveryAwaited, redeliveryOver, s.db.Fixed())
	if err != nil {
		return nil, fmt.Errorf("count redeliveries: %w", err)
	}
	for _, g := range groups {
		out[g.Name] = g.N
	}
	return out, nil
}

// Mark returns how far a periodic read came; the zero time: it never started, or long ago.
func (s *Store) Mark(ctx context.Context, name string) (at time.Time, err error) {
	err = s.db.Pool().QueryRow(ctx, `SELECT at FROM marks WHERE name = $1`, name).Scan(&at)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, fmt.Errorf("read how far %s came: %w", name, err)
	}
	return at, nil
}

// Marks returns the marks that exist, by name.
func (s *Store) Marks(ctx context.Context, names []string) (map[string]time.Time, error) {
	type mark struct {
		Name string
		At   time.Time
	}
	found, err := db.All[mark](ctx, s.db.Pool(), `SELECT name, at FROM marks WHERE name = ANY ($1)`, names)
	if err != nil {
		return nil, fmt.Errorf("read %d marks: %w", len(names), err)
	}
	marks := make(map[string]time.Time, len(found))
	for _, m := range found {
		marks[m.Name] = m.At
	}
	return marks, nil
}

// DropMark removes a mark.
func (s *Store) DropMark(ctx context.Context, name string) error {
	if _, err := s.db.Pool().Exec(ctx, `DELETE FROM marks WHERE name = $1`, name); err != nil {
		return fmt.Errorf("forget the mark %s: %w", name, err)
	}
	return nil
}

// SetMark stores how far a periodic read came. It never goes back.
func (s *Store) SetMark(ctx context.Context, name string, at time.Time) error {
	_, err := s.db.Pool().Exec(ctx, `
		INSERT INTO marks AS m (name, at, set_at) VALUES ($1, $2, coalesce($3::timestamptz, clock_timestamp()))
		ON CONFLICT (name) DO UPDATE SET at = greatest(m.at, excluded.at), set_at = excluded.set_at`, name, at, s.db.Fixed())
	if err != nil {
		return fmt.Errorf("remember how far %s came: %w", name, db.Plain(err))
	}
	return nil
}
