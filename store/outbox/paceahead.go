package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/clusters"
)

// firstWords selects whether something in an installation waits for its first post. Older posts wait for a person to remove an
// obstacle (a locked conversation, a missing permission) and hold up nobody.
const firstWords = `
	EXISTS (SELECT FROM subscribers s JOIN clusters c ON c.id = s.cluster_id
		WHERE s.installation = @installation AND s.kind = @comment AND s.external_id = 0 AND s.shown_version < s.wanted_version AND NOT s.muted
			AND c.created_at > clock.now - @young::interval)
	OR EXISTS (SELECT FROM replies r WHERE r.installation = @installation AND r.external_id = 0 AND r.created_at > clock.now - @young::interval)`

// young is how old a post may be for others to wait for it.
const young = time.Hour

// PaceAhead returns how long a write in an installation has to wait at the moment: for its turn and, if it can wait, for the
// first posts of others. It reserves nothing: call it before the reads that a write needs, and TakePace right before the write.
func (s *Store) PaceAhead(ctx context.Context, installation int64, p Pace, canWait bool) (wait time.Duration, err error) {
	minute, hour := allowanceOf(p.PerMinute, time.Minute), allowanceOf(p.PerHour, time.Hour)
	usual, behind := hour.depth, hour.depth
	if canWait { // a fifth of the hour's allowance is kept free, four fifths while first posts wait: so whoever writes little never waits
		usual, behind = hour.depth-hour.depth/5, hour.depth/5
	}
	err = s.db.Pool().QueryRow(ctx, `
		WITH clock AS (SELECT coalesce(@fixed::timestamptz, clock_timestamp()) AS now),
		free AS (
			SELECT clock.now, greatest(next_at, held_until, minute_full - @minute::interval,
				hour_full - CASE WHEN @can_wait AND hour_full - @behind::interval > clock.now AND (`+firstWords+`) THEN @behind::interval ELSE @usual::interval END) AS at
			FROM paces, clock WHERE paces.installation = @installation)
		SELECT CASE WHEN at <= now THEN interval '0' ELSE at - now END FROM free`,
		pgx.NamedArgs{
			"installation": installation, "fixed": s.db.Fixed(), "minute": minute.depth, "usual": usual, "behind": behind,
			"can_wait": canWait, "comment": clusters.KindComment, "young": young,
		}).Scan(&wait)
	if errors.Is(err, pgx.ErrNoRows) { // nothing was written there yet
		return 0, nil
	}
	if err == nil {
		wait, err = s.plausibleWait(ctx, installation, wait)
	}
	if err != nil {
		return 0, fmt.Errorf("look how soon installation %d may be written in: %w", installation, err)
	}
	return wait, nil
}
