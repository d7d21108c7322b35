package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// source is anything that can be queried: the pool, a transaction or a change.
type source interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// one reads the only row of a query, by column name. ErrNotFound: there is none.
func one[T any](ctx context.Context, from source, sql string, args ...any) (T, error) {
	rows, _ := from.Query(ctx, sql, args...) // the rows return its error again
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
	return row, plain(err)
}

// all reads every row of a query, by column name.
func all[T any](ctx context.Context, from source, sql string, args ...any) ([]T, error) {
	rows, _ := from.Query(ctx, sql, args...) // as above
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	return list, plain(err)
}
