package chaos

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
)

// leastShown is how many bytes of a cluster a table has that is printed by its name.
const leastShown = 512

// stored is how many bytes a stack stores, in the bucket and in each table.
type stored struct {
	s3     int64
	tables map[string]table
}

// table is how many rows and bytes a table has. Maps of free space do not count.
type table struct {
	Name                       string
	Rows, Heap, TOAST, Indexes int64
}

func (t table) bytes() int64 { return t.Heap + t.TOAST + t.Indexes }

// bytesStored measures the artifacts and each table, after a VACUUM, so that dead rows do not count. Packed tables have no free space.
func (t *Run) bytesStored(ctx context.Context, packed bool) (out stored, err error) {
	defer must.Catch(&err)
	vacuum := "VACUUM ANALYZE"
	if packed {
		vacuum = "VACUUM FULL ANALYZE"
	}
	_, err = t.pool.Exec(ctx, vacuum)
	must.Wrap(err, "measure the database")
	rows, _ := t.pool.Query(ctx, `
		SELECT c.relname, greatest(c.reltuples, 0)::bigint, pg_relation_size(c.oid), coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0), pg_indexes_size(c.oid)
		FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace`) // CollectRows returns the error
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	must.Wrap(err, "measure the database")
	out.tables = map[string]table{}
	for _, row := range tables {
		out.tables[row.Name] = row
	}
	must.Wrap(filepath.WalkDir(filepath.Join(t.Dir, "s3", "buckets", devstack.Bucket), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out.s3 += info.Size()
		}
		return err
	}), "measure S3")
	return out, nil
}

// pruned measures what is left of clusters when everything has been kept for long enough.
func (t *Run) pruned(ctx context.Context) (out stored, err error) {
	defer must.Catch(&err)
	s := must.Get(store.Open(ctx, t.DatabaseURL(), db.Options{Lease: lease}))
	defer s.Close()
	_, err = s.Prune(ctx, -time.Hour) // what ended until an hour from now
	must.Do(err)
	_, err = t.pool.Exec(ctx, "DELETE FROM river_job WHERE finalized_at IS NOT NULL")
	must.Wrap(err, "remove finished jobs, as River does after a while")
	return t.bytesStored(ctx, true)
}

// perCluster is what n clusters added to each table, as a part of one.
func perCluster(before, after stored, n int) map[string]table {
	added := map[string]table{}
	for name, a := range after.tables {
		b := before.tables[name]
		added[name] = table{name, a.Rows - b.Rows, (a.Heap - b.Heap) / int64(n), (a.TOAST - b.TOAST) / int64(n), (a.Indexes - b.Indexes) / int64(n)}
	}
	return added
}

// printStored prints what a cluster added to each table while it lived, and what is left of it.
func (t *Run) printStored(ctx context.Context, before, after stored, n int) error {
	ended, err := t.pruned(ctx)
	if err != nil {
		return err
	}
	lived, left := perCluster(before, after, n), perCluster(before, ended, n)
	kB := func(bytes int64) float64 { return float64(bytes) / 1024 }
	var rest, all [2]int64
	t.say("\n%-24s %8s %8s %8s %8s %8s   %8s %8s", "kB per cluster in", "rows", "heap", "TOAST", "indexes", "all", "pruned:", "all")
	names := slices.SortedFunc(maps.Keys(lived), func(a, b string) int {
		return cmp.Or(cmp.Compare(lived[b].bytes(), lived[a].bytes()), cmp.Compare(a, b))
	})
	for _, name := range names {
		l, e := lived[name], left[name]
		all[0], all[1] = all[0]+l.bytes(), all[1]+e.bytes()
		if max(l.bytes(), e.bytes()) < leastShown {
			rest[0], rest[1] = rest[0]+l.bytes(), rest[1]+e.bytes()
			continue
		}
		t.say("%-24s %8.1f %8.1f %8.1f %8.1f %8.1f   %8.1f %8.1f", name, float64(l.Rows)/float64(n), kB(l.Heap), kB(l.TOAST), kB(l.Indexes), kB(l.bytes()),
			float64(e.Rows)/float64(n), kB(e.bytes()))
	}
	t.say("%-24s %44.1f   %17.1f", "other tables", kB(rest[0]), kB(rest[1]))
	t.say("stored per cluster: S3 %.1f kB, PostgreSQL %.1f kB, %.1f kB of it after everything has been pruned", kB(after.s3-before.s3)/float64(n), kB(all[0]), kB(all[1]))
	return nil
}
