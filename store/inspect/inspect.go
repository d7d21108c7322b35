// Package inspect looks at a database without changing it: its version, its schema, its limits and what this user may do. It works
// before the first migration, and must never wait for a lock or write anything.
package inspect

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/ocpctl/ocpctl/migrations"
	"github.com/ocpctl/ocpctl/store/db"
)

// Database is what a database says about itself.
type Database struct {
	Version   int // PostgreSQL's major version
	Name      string
	Host      string // as the address names it
	User      string
	TLS       string        // protocol of the connection, e.g. TLSv1.3; empty: not encrypted
	Clock     time.Time     // the database's
	ClockRead time.Time     // ours, when the database answered
	RoundTrip time.Duration // how long that call took

	MaxConnections int // that are not reserved for administrators
	PoolConns      int // that one server process opens at most

	Schema                    int // newest migration of the database; 0: none
	FirstSchema, NewestSchema int // the first and the newest of this program
	River, NewestRiver        int // newest of the queue's tables, and of this program

	MayCreate bool     // this user may create tables, which migrations do
	Lacking   []string // tables that this user may not read and write completely
}

// Look connects to a database and asks it about itself.
func Look(ctx context.Context, url string) (d Database, err error) {
	config, err := db.PoolConfig(url)
	if err != nil {
		return d, err
	}
	d.PoolConns, d.Host = int(config.MaxConns), config.ConnConfig.Host
	if d.FirstSchema, d.NewestSchema, err = migrations.Numbers(); err != nil {
		return d, err
	}
	if d.NewestRiver, err = newestOfRiver(); err != nil {
		return d, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return d, fmt.Errorf("reach the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, ask := range []func(context.Context, *pgx.Conn) error{d.itself, d.clock, d.schema, d.privileges} {
		if err := ask(ctx, conn); err != nil {
			return d, fmt.Errorf("ask the database about itself: %w", err)
		}
	}
	return d, nil
}

// newestOfRiver returns the newest migration of the queue's tables that this program has.
func newestOfRiver() (newest int, err error) {
	migrator, err := rivermigrate.New(riverpgxv5.New(nil), nil)
	if err != nil {
		return 0, fmt.Errorf("read River's migrations: %w", err)
	}
	for _, m := range migrator.AllVersions() {
		newest = max(newest, m.Version)
	}
	return newest, nil
}

func (d *Database) itself(ctx context.Context, conn *pgx.Conn) error {
	return conn.QueryRow(ctx, `
		SELECT current_setting('server_version_num')::int / 10000, current_database(), current_user,
			coalesce((SELECT s.version FROM pg_stat_ssl s WHERE s.pid = pg_backend_pid() AND s.ssl), ''),
			current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int`).
		Scan(&d.Version, &d.Name, &d.User, &d.TLS, &d.MaxConnections)
}

func (d *Database) clock(ctx context.Context, conn *pgx.Conn) error {
	asked := time.Now()
	if err := conn.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&d.Clock); err != nil {
		return err
	}
	d.ClockRead = time.Now()
	d.RoundTrip = d.ClockRead.Sub(asked)
	d.Clock = d.Clock.UTC()
	return nil
}

// schema reads which migrations the database has. Neither table exists before the first one.
func (d *Database) schema(ctx context.Context, conn *pgx.Conn) error {
	var ours, rivers bool
	if err := conn.QueryRow(ctx, `SELECT to_regclass('goose_db_version') IS NOT NULL, to_regclass('river_migration') IS NOT NULL`).Scan(&ours, &rivers); err != nil {
		return err
	}
	if ours {
		if err := conn.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&d.Schema); err != nil {
			return err
		}
	}
	if rivers {
		return conn.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM river_migration WHERE line = 'main'`).Scan(&d.River)
	}
	return nil
}

func (d *Database) privileges(ctx context.Context, conn *pgx.Conn) error {
	if err := conn.QueryRow(ctx, `SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)`).Scan(&d.MayCreate); err != nil {
		return err
	}
	rows, err := conn.Query(ctx, `
		SELECT c.relname::text FROM pg_class c
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
			AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
				AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))
		ORDER BY 1`)
	if err != nil {
		return err
	}
	d.Lacking, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return err
}
