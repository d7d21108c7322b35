package attempts

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// QueueIn reads a cluster's position in the capacity queue; the zero Line: it does not wait.
func (s *Store) QueueIn(ctx context.Context, tx pgx.Tx, cluster lifecycle.Cluster, now time.Time) (lifecycle.QueuePosition, error) {
	if cluster.Status != lifecycle.Pending && cluster.Status != lifecycle.Creating {
		return lifecycle.QueuePosition{}, nil
	}
	type place struct {
		Position int
		Words    string
		Since    time.Time
		AskedAt  time.Time
		Asked    int
		FreedAt  *time.Time
		Passed   *time.Time
		Passer   *string
	}
	rows, err := db.All[place](ctx, tx, `
		SELECT 1 + (SELECT count(*) FROM reservations r JOIN clusters c ON c.id = r.cluster_id
				WHERE r.account = mine.account AND r.region = mine.region AND r.state = 'waiting' AND c.desired = 'present'
					AND c.destroyed_at IS NULL AND NOT c.why ? 'brake' AND (-c.priority, c.created_at, c.id) < (-m.priority, m.created_at, m.id))
				+ (SELECT count(*)`+unasked+`) AS position,
			mine.words, mine.since, mine.asked_at, mine.position AS asked,
			(SELECT max(f.freed_at) FROM reservations f WHERE f.account = mine.account AND f.region = mine.region) AS freed_at,
			p.passed_at AS passed, CASE WHEN p.passed_at >= mine.since AND (-p.priority, p.created_at, p.id) > (-m.priority, m.created_at, m.id) THEN p.name END AS passer
		FROM reservations mine JOIN clusters m ON m.id = mine.cluster_id
			LEFT JOIN LATERAL (SELECT c.id, c.name, c.priority, c.created_at, r.passed_at FROM reservations r JOIN clusters c ON c.id = r.cluster_id
				WHERE r.account = mine.account AND r.region = mine.region AND r.passed_at IS NOT NULL ORDER BY r.passed_at DESC LIMIT 1) p ON true
		WHERE mine.cluster_id = @cluster AND mine.state = 'waiting' AND m.desired = 'present'`,
		pgx.NamedArgs{"cluster": cluster.ID, "now": now, "let_past_seconds": s.db.Options.Limits.LetPast.Seconds()})
	if err != nil || len(rows) == 0 {
		return lifecycle.QueuePosition{}, err
	}
	r := rows[0]
	line := lifecycle.QueuePosition{Position: r.Position, For: r.Words, Since: r.Since, AskedAt: r.AskedAt, Asked: r.Asked, FreedAt: db.Zero(r.FreedAt)}
	if bound := s.db.Options.Limits.LetPast; bound > 0 && r.Position > 1 {
		line.PassAt = passAt(r.Since, db.Zero(r.Passed), bound)
	}
	if r.Passer != nil {
		line.Passed = fmt.Sprintf("%s needs less and was let past at %s", *r.Passer, r.Passed.UTC().Format("15:04 UTC on 2 January"))
	}
	return line, nil
}

// GivesCapacity reports a move after which a cluster may hold less capacity, or has left the queue.
func GivesCapacity(was, next lifecycle.Cluster) bool {
	return was.Status != next.Status && (next.Status == lifecycle.Ready || next.Status == lifecycle.Destroyed || next.Status == lifecycle.Failed) ||
		was.Desired != next.Desired || was.Seen != next.Seen
}

// AdvanceCapacityQueue reconciles every cluster that waits for capacity in an account and region, because positions moved or capacity was
// freed. It returns how many. Each is a change of its own, so that none holds up another.
func (s *Store) AdvanceCapacityQueue(ctx context.Context, account, region string) (n int, err error) {
	rows, err := s.db.Pool().Query(ctx, `SELECT r.cluster_id`+inLine+` ORDER BY -c.priority, c.created_at, c.id`, pgx.NamedArgs{"account": account, "region": region})
	if err != nil {
		return 0, fmt.Errorf("read the line of %s in %s: %w", account, region, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return 0, fmt.Errorf("read the line of %s in %s: %w", account, region, err)
	}
	for _, id := range ids {
		if err := s.db.Write(ctx, func(c *db.Tx) error { return clusters.RequestReconcile(ctx, c, id) }); err != nil {
			return 0, fmt.Errorf("move up %s: %w", id, err)
		}
	}
	return len(ids), nil
}
