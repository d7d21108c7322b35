package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ocpctl/ocpctl/migrations"
)

// Schema compares the database's schema with the one that this program was built for. All are numbers of migrations.
type Schema struct {
	First    int // the first migration that this program has: it makes the whole schema in an empty database
	Known    int // the newest one
	Database int // the newest one that was applied
	Oldest   int // a server must know this one to work with the database; zero: the schema does not say
}

// Newer reports whether a newer release migrated the database.
func (s Schema) Newer() bool { return s.Database > s.Known }

// Schema returns an error if this program must not work with the database: it is too old for its schema, or the schema too old for it.
func (s *Store) Schema(ctx context.Context) (Schema, error) {
	schema, err := ReadSchema(ctx, s.Pool())
	if err != nil {
		return Schema{}, err
	}
	if err := schema.check(); err != nil {
		return schema, err
	}
	if schema.Database < schema.Known {
		return schema, fmt.Errorf("the database is at migration %d, and this server needs %d: migrate it first, with a server that has -migrate (the default)",
			schema.Database, schema.Known)
	}
	return schema, nil
}

func (s Schema) check() error {
	if s.Database > 0 && s.Database < s.First {
		return fmt.Errorf("the database is at migration %d, and this server's begin with %d: %s", s.Database, s.First, migrations.UpgradeFirst)
	}
	if s.Known < s.Oldest {
		return fmt.Errorf("the database works with servers that know migration %d, and this one knows %d: install the release that migrated it, or a newer one",
			s.Oldest, s.Known)
	}
	return nil
}

// ReadSchema returns the numbers of a database, whether this program may work with it or not. An empty database has no migration.
func ReadSchema(ctx context.Context, pool *pgxpool.Pool) (s Schema, err error) {
	if s.First, s.Known, err = migrations.Numbers(); err != nil {
		return s, err
	}
	for _, one := range []struct {
		table, sql string
		into       *int
	}{
		{"goose_db_version", `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`, &s.Database},
		{"schema_support", `SELECT coalesce(max(oldest), 0) FROM schema_support`, &s.Oldest},
	} {
		var exists bool
		if err := pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, one.table).Scan(&exists); err != nil {
			return s, fmt.Errorf("look for the table %s: %w", one.table, err)
		}
		if !exists {
			continue
		}
		if err := pool.QueryRow(ctx, one.sql).Scan(one.into); err != nil {
			return s, fmt.Errorf("read the schema's version: %w", err)
		}
	}
	return s, nil
}
