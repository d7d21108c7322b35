package servicetest

import (
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// Clusters are all there ever were, oldest first.
func (h *Fixture) Clusters() []clusters.Row {
	h.Helper()
	rows, _, err := h.Store.List(h.Context(), store.Filter{Limit: 100})
	require.NoError(h, err)
	slices.Reverse(rows)
	return rows
}

// Only is the only cluster there ever was.
func (h *Fixture) Only() clusters.Row {
	h.Helper()
	rows := h.Clusters()
	require.Len(h, rows, 1)
	return rows[0]
}

// Query reads one column straight from the tables: what was written, not what the product says of it.
func (h *Fixture) Query(sql string, args ...any) []string {
	h.Helper()
	conn, err := pgx.Connect(h.Context(), h.URL)
	require.NoError(h, err)
	defer conn.Close(h.Context())
	rows, err := conn.Query(h.Context(), sql, args...)
	require.NoError(h, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(h, err)
	return out
}

// Replies are the answers to post, oldest first.
func (h *Fixture) Replies() []string {
	h.Helper()
	return h.Query(`SELECT body FROM replies ORDER BY id`)
}

// LastReply is the newest answer to post.
func (h *Fixture) LastReply() string {
	h.Helper()
	all := h.Replies()
	require.NotEmpty(h, all)
	return all[len(all)-1]
}

// Effects are the changes to make on GitHub besides what shows a cluster, oldest first.
func (h *Fixture) Effects() []string {
	h.Helper()
	return h.Query(`SELECT kind || ' ' || content FROM effects ORDER BY created_at, id`)
}

// LeftBehind counts what asking for a cluster leaves behind, by table. The last number counts River's jobs.
func (h *Fixture) LeftBehind() []string {
	h.Helper()
	return h.Query(`SELECT count(*)::text FROM clusters UNION ALL SELECT count(*)::text FROM cluster_requests UNION ALL SELECT count(*)::text FROM jobs
		UNION ALL SELECT count(*)::text FROM audit_events UNION ALL SELECT count(*)::text FROM approvals UNION ALL SELECT count(*)::text FROM turns
		UNION ALL SELECT count(*)::text FROM river_job`)
}
