package servicetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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

// Rows are all rows of a database at one moment. A test that tries many things on one database uses them to see what an act changed,
// and to restore it.
type Rows struct {
	t       testing.TB
	store   *store.Store
	tables  []table
	changed string            // query for the tables that differ
	counts  map[string]*int64 // the value of each sequence; nil: never used
}

type table struct {
	Name    string
	Columns string // those that can be written
}

// Keep copies the current rows into a schema of their own, but not what sign-ins call people: any request may write that.
func Keep(t testing.TB, s *store.Store) *Rows {
	t.Helper()
	r := &Rows{t: t, store: s, counts: map[string]*int64{}}
	r.exec(`CREATE SCHEMA kept`)
	rows, err := s.Pool().Query(t.Context(), `
		SELECT c.table_name, string_agg(quote_ident(c.column_name), ', ' ORDER BY c.ordinal_position)
		FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER' AND c.table_name <> 'sign_in_names' GROUP BY 1 ORDER BY 1`)
	require.NoError(t, err)
	r.tables, err = pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	require.NoError(t, err)
	var differ []string
	for _, of := range r.tables {
		r.exec(`CREATE TABLE kept.%[1]s AS TABLE public.%[1]s`, of.Name)
		differ = append(differ, fmt.Sprintf(`SELECT '%[1]s' WHERE EXISTS (TABLE public.%[1]s EXCEPT ALL TABLE kept.%[1]s)
			OR (SELECT count(*) FROM public.%[1]s) <> (SELECT count(*) FROM kept.%[1]s)`, of.Name))
	}
	r.changed = strings.Join(differ, " UNION ALL ")
	rows, err = s.Pool().Query(t.Context(), `SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = 'public'`)
	require.NoError(t, err)
	var name string
	var last *int64
	_, err = pgx.ForEachRow(rows, []any{&name, &last}, func() error {
		r.counts[name] = last
		return nil
	})
	require.NoError(t, err)
	return r
}

// Changed lists the tables whose rows differ.
func (r *Rows) Changed() []string {
	r.t.Helper()
	rows, err := r.store.Pool().Query(r.t.Context(), r.changed)
	require.NoError(r.t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(r.t, err)
	slices.Sort(names)
	return names
}

// Restore restores these tables. It bypasses triggers and keys; only a test may remove lines from the audit trail.
func (r *Rows) Restore(changed []string) {
	r.t.Helper()
	if len(changed) == 0 {
		return
	}
	var sql strings.Builder
	sql.WriteString("BEGIN; SET LOCAL session_replication_role = replica;")
	for _, of := range r.tables {
		if slices.Contains(changed, of.Name) {
			fmt.Fprintf(&sql, `DELETE FROM public.%[1]s; INSERT INTO public.%[1]s (%[2]s) OVERRIDING SYSTEM VALUE SELECT %[2]s FROM kept.%[1]s;`, of.Name, of.Columns)
		}
	}
	for name, last := range r.counts {
		if last == nil {
			fmt.Fprintf(&sql, `ALTER SEQUENCE public.%s RESTART;`, name)
		} else {
			fmt.Fprintf(&sql, `SELECT setval('public.%s', %d);`, name, *last)
		}
	}
	r.exec("%s COMMIT", sql.String())
}

func (r *Rows) exec(sql string, args ...any) {
	r.t.Helper()
	_, err := r.store.Pool().Exec(r.t.Context(), fmt.Sprintf(sql, args...), pgx.QueryExecModeSimpleProtocol)
	require.NoError(r.t, err)
}
