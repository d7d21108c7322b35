package attempts

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/duration"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Capacity is given by priority, and then in the order of acceptance. Ahead of a cluster are those in the queue that come before it, and those
// of its own team that come before it and have not asked yet: their runners may only be slower to start. What these will need is unknown, so each
// is taken to need what the newest cluster of its profile needed there, or else what the one that asks needs.

// inLine selects the waiting reservations r of an account and region, with their clusters c. One that a brake holds delays nobody.
const inLine = ` FROM reservations r JOIN clusters c ON c.id = r.cluster_id
	WHERE r.account = @account AND r.region = @region AND r.state = 'waiting' AND c.desired = 'present' AND c.destroyed_at IS NULL AND NOT c.why ? 'brake'`

// unasked selects the clusters c that will ask for capacity and have not yet: same team, account and region as the cluster m,
// and before it in the order. One whose runner never asks delays others no longer than the front of the queue may.
const unasked = ` FROM clusters c
	WHERE c.team = m.team AND c.platform = m.platform AND c.region = m.region
		AND coalesce(c.spec ->> 'account', '') = coalesce(m.spec ->> 'account', '') AND (-c.priority, c.created_at, c.id) < (-m.priority, m.created_at, m.id)
		AND c.destroyed_at IS NULL AND c.desired = 'present' AND c.status IN ('PENDING', 'CREATING') AND NOT c.needs_turn AND NOT c.needs_approval
		AND NOT c.why ? 'brake' AND NOT EXISTS (SELECT FROM reservations r WHERE r.cluster_id = c.id)
		AND NOT EXISTS (SELECT FROM attempts a WHERE a.cluster_id = c.id AND a.recorded_at IS NOT NULL)
		AND (@let_past_seconds <= 0 OR @now < coalesce((SELECT min(a.opened_at) FROM attempts a WHERE a.cluster_id = c.id), c.updated_at)
			+ @let_past_seconds * interval '1 second')`

// queueAhead is what is ahead of a cluster that asks for capacity.
type queueAhead struct {
	waiting, unasked []lifecycle.Holding
	since            time.Time // since when the asking cluster waits; zero: it asks for the first time
	passed           time.Time // when a cluster there was last let past; zero: never
}

func (l queueAhead) all() []lifecycle.Holding {
	return append(l.waiting[:len(l.waiting):len(l.waiting)], l.unasked...)
}

// letPast returns why a cluster was given capacity before others.
func (l queueAhead) letPast(after time.Duration) string {
	return fmt.Sprintf("started before others that need more capacity than is free, because they held it up for %s, the longest time allowed", duration.Format(after))
}

// describeUnmeasured returns the part of a reason that counts the clusters ahead that have not asked.
func (l queueAhead) describeUnmeasured() string {
	switch len(l.unasked) {
	case 0:
		return ""
	case 1:
		return " (1 cluster of the team was asked for earlier and is being measured)"
	}
	return fmt.Sprintf(" (%d clusters of the team were asked for earlier and are being measured)", len(l.unasked))
}

// mayPass reports whether the clusters ahead have held up this one, and everything behind them, for as long as they may.
func mayPass(c *db.Tx, l queueAhead) bool {
	bound := c.DB.Options.Limits.LetPast
	return bound > 0 && !l.since.IsZero() && !c.Now.Before(passAt(l.since, l.passed, bound))
}

// passAt is when a cluster that waits since then may be let past. Only one may pass per bound, so that a large demand is not
// overtaken by a stream of small ones.
func passAt(since, passed time.Time, bound time.Duration) time.Time {
	if passed.After(since) {
		since = passed
	}
	return since.Add(bound)
}

// loadQueueAhead reads what is ahead of the cluster. demand is what the cluster needs itself.
func loadQueueAhead(ctx context.Context, c *db.Tx, args pgx.NamedArgs, demand []lifecycle.Quota) (l queueAhead, err error) {
	args["let_past_seconds"] = c.DB.Options.Limits.LetPast.Seconds()
	l.waiting, err = db.All[lifecycle.Holding](ctx, c, `
		SELECT r.cluster_id AS cluster, false AS ready, r.items AS quotas`+inLine+`
			AND (-c.priority, c.created_at, c.id) < (SELECT -m.priority, m.created_at, m.id FROM clusters m WHERE m.id = @cluster)
		ORDER BY -c.priority, c.created_at, c.id`, args)
	if err != nil {
		return l, fmt.Errorf("read the line: %w", err)
	}
	others, err := db.All[lifecycle.Holding](ctx, c, `
		SELECT u.id AS cluster, false AS ready, coalesce((SELECT r.items FROM reservations r JOIN clusters o ON o.id = r.cluster_id
			WHERE r.account = @account AND r.region = @region AND o.profile = u.profile ORDER BY r.asked_at DESC LIMIT 1), '[]') AS quotas
		FROM clusters m, LATERAL (SELECT c.id, c.profile`+unasked+`) u WHERE m.id = @cluster`, args)
	if err != nil {
		return l, fmt.Errorf("read who has not asked yet: %w", err)
	}
	for _, o := range others {
		if len(o.Quotas) == 0 {
			o.Quotas = demand
		}
		l.unasked = append(l.unasked, o)
	}
	var since, passed *time.Time
	err = c.QueryRow(ctx, `
		SELECT (SELECT since FROM reservations WHERE cluster_id = @cluster AND state = 'waiting'),
			(SELECT max(passed_at) FROM reservations WHERE account = @account AND region = @region)`, args).Scan(&since, &passed)
	if err != nil {
		return l, fmt.Errorf("read since when it waits: %w", err)
	}
	l.since, l.passed = db.Zero(since), db.Zero(passed)
	return l, nil
}
