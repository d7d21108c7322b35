package pools

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Kind is of which clusters a pool is.
type Kind struct{ Pool, Profile, Region, Version string }

// Need is a request that took a waiting cluster, or would have taken one.
type Need struct {
	At      time.Time
	Team    string
	Claimed bool // otherwise it got a new cluster
}

// History is what was wanted of a pool, and how long its clusters took.
type History struct {
	Since   *time.Time     // when the pool's first cluster was requested; nil: never
	Needs   []Need         // the earliest first
	Install *time.Duration // half of its installs took no longer; nil: there was none
	Wake    *time.Duration // likewise
}

// History returns what was wanted of a pool since a time. A request would have taken a cluster if it got a new one of the same kind, named neither
// the cluster nor another pool, and did not refuse pools. Whether its add-ons and its team fit is not looked at.
func (s *Store) History(ctx context.Context, of Kind, since time.Time) (h History, err error) {
	args := pgx.NamedArgs{
		"pool": of.Pool, "profile": of.Profile, "region": of.Region, "version": of.Version, "since": since,
		"create": lifecycle.Create, "wake": lifecycle.Wake, "succeeded": lifecycle.Succeeded,
	}
	h.Needs, err = db.All[Need](ctx, s.db.Pool(), `
		SELECT claimed_at AS at, team, true AS claimed FROM clusters WHERE pool = @pool AND claimed_at >= @since
		UNION ALL
		SELECT q.created_at, c.team, false FROM cluster_requests q JOIN clusters c ON c.id = q.cluster_id
		WHERE q.created_at >= @since AND c.pool = '' AND c.profile = @profile AND c.region = @region AND c.version = @version
			AND coalesce(q.request ->> 'name', '') = '' AND coalesce(q.request ->> 'pool', '') IN ('', @pool)
		ORDER BY at`, args)
	if err == nil {
		err = s.db.Pool().QueryRow(ctx, `
			SELECT (SELECT min(coalesce((waited ->> 'created_at')::timestamptz, created_at)) FROM clusters WHERE pool = @pool),
				percentile_disc(0.5) WITHIN GROUP (ORDER BY a.closed_at - a.opened_at) FILTER (WHERE a.kind = @create),
				percentile_disc(0.5) WITHIN GROUP (ORDER BY a.closed_at - a.opened_at) FILTER (WHERE a.kind = @wake)
			FROM attempts a JOIN clusters c ON c.id = a.cluster_id
			WHERE c.pool = @pool AND a.outcome = @succeeded AND a.closed_at >= @since`, args).Scan(&h.Since, &h.Install, &h.Wake)
	}
	if err != nil {
		return History{}, fmt.Errorf("read what was wanted of the pool %s: %w", of.Pool, err)
	}
	return h, nil
}
