package usage

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

const (
	counterColumns = `kind, key, month, live, creating, waiting, spent, spent_rate, to_come, to_come_rate, node_ms, nodes, come_node_ms, come_nodes`
	counterSums    = `sum(live) AS live, sum(creating) AS creating, sum(waiting) AS waiting, sum(spent) AS spent, sum(spent_rate) AS spent_rate, sum(to_come) AS to_come,
		sum(to_come_rate) AS to_come_rate, sum(node_ms) AS node_ms, sum(nodes) AS nodes, sum(come_node_ms) AS come_node_ms, sum(come_nodes) AS come_nodes`
)

// Fold adds the changes of counters to the counters, most of them at once, and deletes counters of earlier months with which nothing
// counts any more. It returns how many changes it folded. Only one pass runs at a time.
func Fold(ctx context.Context, c *db.Tx, most int) (n int, err error) {
	err = c.QueryRow(ctx, `
		WITH mine AS (SELECT pg_advisory_xact_lock(hashtextextended('fold usage', 0))), folded AS (
			DELETE FROM usage_changes WHERE id IN (SELECT id FROM usage_changes, mine ORDER BY id LIMIT $1) RETURNING *
		), added AS (
			INSERT INTO usage_counters (`+counterColumns+`) SELECT kind, key, month, `+counterSums+` FROM folded GROUP BY kind, key, month
			ON CONFLICT (kind, key, month) DO UPDATE SET live = usage_counters.live + excluded.live, creating = usage_counters.creating + excluded.creating,
				waiting = usage_counters.waiting + excluded.waiting, spent = usage_counters.spent + excluded.spent, spent_rate = usage_counters.spent_rate + excluded.spent_rate,
				to_come = usage_counters.to_come + excluded.to_come, to_come_rate = usage_counters.to_come_rate + excluded.to_come_rate,
				node_ms = usage_counters.node_ms + excluded.node_ms, nodes = usage_counters.nodes + excluded.nodes,
				come_node_ms = usage_counters.come_node_ms + excluded.come_node_ms, come_nodes = usage_counters.come_nodes + excluded.come_nodes
		)
		SELECT count(*) FROM folded`, most).Scan(&n)
	if err == nil {
		_, err = c.Exec(ctx, `DELETE FROM usage_counters WHERE month < $1 AND (live, creating, waiting, spent_rate, to_come, nodes, come_nodes) = (0, 0, 0, 0, 0, 0, 0)`, monthOf(c.Now))
	}
	if err != nil {
		return 0, fmt.Errorf("fold what is used: %w", err)
	}
	return n, nil
}

// Correct compares the counters with the clusters, corrects those that differ, and returns their names. It reads all clusters.
func Correct(ctx context.Context, c *db.Tx) (wrong []string, err error) {
	rows, err := c.Query(ctx, `
		WITH parts AS (
			SELECT u.*, 1 AS sign FROM clusters c, usage_of(c, 1) u WHERE c.destroyed_at IS NULL OR c.destroyed_at >= @month
			UNION ALL SELECT `+counterColumns+`, -1 FROM usage_counters
			UNION ALL SELECT `+counterColumns+`, -1 FROM usage_changes
		), signed AS (
			SELECT kind, key, month, sign * live AS live, sign * creating AS creating, sign * waiting AS waiting, CASE WHEN month >= @month THEN sign * spent ELSE 0 END AS spent,
				sign * spent_rate AS spent_rate, sign * to_come AS to_come, sign * to_come_rate AS to_come_rate, CASE WHEN month >= @month THEN sign * node_ms ELSE 0 END AS node_ms,
				sign * nodes AS nodes, sign * come_node_ms AS come_node_ms, sign * come_nodes AS come_nodes FROM parts
		), differences AS (
			SELECT kind, key, month, `+counterSums+` FROM signed GROUP BY kind, key, month
		), corrected AS (
			INSERT INTO usage_changes (`+counterColumns+`) SELECT * FROM differences
			WHERE (live, creating, waiting, spent, spent_rate, to_come, to_come_rate, node_ms, nodes, come_node_ms, come_nodes) <> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) RETURNING kind, key
		)
		SELECT DISTINCT rtrim(kind || ' ' || key) FROM corrected ORDER BY 1`, pgx.NamedArgs{"month": monthOf(c.Now)})
	if err == nil {
		wrong, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		return nil, fmt.Errorf("compare what is used with the clusters: %w", err)
	}
	return wrong, nil
}
