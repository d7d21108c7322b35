package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Source is anything that can be queried: the pool, a transaction or a change.
type Source interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// One reads the only row of a query, by column name. ErrNotFound: there is none.
func One[T any](ctx context.Context, from Source, sql string, args ...any) (T, error) {
	rows, _ := from.Query(ctx, sql, args...) // the rows return its error again
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
	return row, Plain(err)
}

// All reads every row of a query, by column name.
func All[T any](ctx context.Context, from Source, sql string, args ...any) ([]T, error) {
	rows, _ := from.Query(ctx, sql, args...) // as above
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	return list, Plain(err)
}

type NamedCount struct {
	Name string
	N    int64
}
