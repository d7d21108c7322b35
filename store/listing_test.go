package store_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/storetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// listing has a line for each part of the schema, without what River and goose make. Columns have no order, so that a migrated
// database and a new one are listed alike.
const listing = `
	WITH ours AS (
		SELECT oid, relname::text AS name, relkind, relpersistence, reloptions FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'm', 'p', 'S') AND relname !~ '^(river_|goose_)'),
	parts AS (
		SELECT name, 1 AS rank, '' AS part, concat_ws(' ',
			CASE relkind WHEN 'r' THEN 'table' WHEN 'S' THEN 'sequence' ELSE relkind::text END, nullif(relpersistence::text, 'p'), reloptions::text) AS def
		FROM ours
		UNION ALL
		SELECT name, 2, attname, concat_ws(' ', format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'not null' END,
			CASE attgenerated WHEN 's' THEN 'generated' ELSE CASE WHEN atthasdef THEN 'default' END END, pg_get_expr(adbin, adrelid),
			CASE WHEN attidentity <> '' THEN 'identity ' || attidentity::text END, CASE WHEN attcollation <> typcollation THEN 'collation ' || attcollation::regcollation::text END,
			'options ' || attoptions::text, 'storage ' || nullif(attstorage::text, typstorage::text), 'statistics ' || nullif(attstattarget, -1)::text)
		FROM ours JOIN pg_attribute ON attrelid = oid JOIN pg_type t ON t.oid = atttypid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
		WHERE attnum > 0 AND NOT attisdropped AND relkind <> 'S'
		UNION ALL
		SELECT name, 3, conname, pg_get_constraintdef(c.oid) FROM ours JOIN pg_constraint c ON conrelid = ours.oid WHERE contype NOT IN ('n', 't')
		UNION ALL
		SELECT name, 4, indexrelid::regclass::text, pg_get_indexdef(indexrelid) || CASE WHEN indisvalid THEN '' ELSE ' INVALID' END
		FROM ours JOIN pg_index ON indrelid = oid
		UNION ALL
		SELECT name, 5, tgname, pg_get_triggerdef(t.oid) || ' enabled ' || tgenabled::text FROM ours JOIN pg_trigger t ON tgrelid = ours.oid WHERE NOT tgisinternal
		UNION ALL
		SELECT 'function ' || proname, 6, '', pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname !~ '^river_'
		UNION ALL
		SELECT 'type ' || typname, 7, '', typtype::text FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('d', 'e', 'r') AND typname !~ '^river_'
		UNION ALL
		SELECT 'row of schema_support', 8, '', schema_support::text FROM schema_support
		UNION ALL
		SELECT 'row of audit_head', 8, '', audit_head::text FROM audit_head)
	SELECT concat_ws('  ', name, nullif(part, ''), def) FROM parts ORDER BY name COLLATE "C", rank, part COLLATE "C"`

// The schema of a new database is the one that servers were written for: a migration changes what its diff of the listing shows, and nothing else.
func TestTheSchemaIsTheOneOfTheListing(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	rows, err := s.Pool().Query(t.Context(), listing)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	got := strings.Join(lines, "\n") + "\n"
	const golden = "testdata/schema.golden"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run go test ./store -update, and read the diff")
}
