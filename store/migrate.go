package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/ocpctl/ocpctl/migrations"
	"github.com/ocpctl/ocpctl/store/db"
)

// migrationLock is the advisory lock under which one process migrates while the others wait. The number is arbitrary.
const migrationLock = 0x6f637063746c // "ocpctl"

const (
	// migrationWaits is how long a migration waits for a table: all other users of the table wait behind it.
	migrationWaits = "5s"
	// migrationTries bounds the tries: processes of the previous release may still run, and a wait for one that holds one table
	// and wants another ends in a timeout or a deadlock.
	migrationTries = 20
)

// Migrate brings the database's tables, ours and River's, to the newest version. It is safe in many processes at once, and while
// processes of the previous release run. A database that a newer release migrated stays as it is; it is an error if that release
// excluded this one, see Schema.
func Migrate(ctx context.Context, url string) error {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("read the database's address: %w", err)
	}
	config.ConnConfig.RuntimeParams["lock_timeout"] = migrationWaits
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	defer pool.Close()
	holder, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}
	defer holder.Release()
	if _, err := holder.Exec(ctx, `SET lock_timeout = 0`); err != nil {
		return fmt.Errorf("wait for other migrations: %w", err)
	}
	if _, err := holder.Exec(ctx, `SELECT pg_advisory_lock($1)`, migrationLock); err != nil {
		return fmt.Errorf("wait for other migrations: %w", err)
	}
	defer holder.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrationLock) // ends with the connection too

	before, err := ReadSchema(ctx, pool)
	if err != nil {
		return err
	}
	if err := before.check(); err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	ours, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	err = retryLocked(ctx, func() error {
		_, err := ours.Up(ctx) // each migration runs completely or not at all
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	rivers, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return fmt.Errorf("read River's migrations: %w", err)
	}
	if _, err := rivers.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate River's tables: %w", err)
	}
	return dropUnusedIndexes(ctx, pool)
}

// dropUnusedIndexes drops the indexes on the contents of jobs, which only searches in River's own web interface use. They take more space
// and time than the jobs themselves.
func dropUnusedIndexes(ctx context.Context, pool *pgxpool.Pool) error {
	for _, index := range []string{"river_job_args_index", "river_job_metadata_index"} {
		err := retryLocked(ctx, func() error {
			_, err := pool.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+index)
			return err
		})
		if err != nil {
			return fmt.Errorf("drop the index %s: %w", index, err)
		}
	}
	return nil
}

// retryLocked calls do again as long as it waited for a lock in vain.
func retryLocked(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		if err := do(); err == nil || !isLockTimeout(err) || try == migrationTries || ctx.Err() != nil {
			return err
		}
	}
}

// isLockTimeout reports whether a statement ended because of a lock it waited for.
func isLockTimeout(err error) bool {
	var failure *pgconn.PgError
	return errors.As(err, &failure) && (failure.Code == db.Deadlock || failure.Code == db.LockTimeout)
}
