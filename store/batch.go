package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// batch is a list of statements that go to the database in one round trip, in order. Others wait for this change's locks for as
// long as its round trips take.
type batch struct {
	pgx.Batch
	statements []statement
}

type statement struct {
	what string               // for its error
	read func(pgx.Rows) error // nil: it returns nothing of interest
}

// do adds a statement.
func (b *batch) do(what, sql string, args ...any) { b.ask(what, nil, sql, args...) }

// ask adds a statement and reads its rows.
func (b *batch) ask(what string, read func(pgx.Rows) error, sql string, args ...any) {
	b.Queue(sql, args...)
	b.statements = append(b.statements, statement{what, read})
}

// into reads the only row into a value, by column name. ErrNotFound: there is none.
func into[T any](to *T) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*to, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
		return plain(err)
	}
}

// list reads all rows into a list, by column name.
func list[T any](to *[]T) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*to, err = pgx.CollectRows(rows, pgx.RowToStructByName[T])
		return plain(err)
	}
}

// send runs the statements in order and stops at the first error.
func (c *change) send(ctx context.Context, b *batch) (err error) {
	results := c.SendBatch(ctx, &b.Batch)
	for _, s := range b.statements {
		if s.read == nil {
			_, err = results.Exec()
		} else {
			rows, _ := results.Query() // the rows return its error again
			err = s.read(rows)
		}
		if err != nil {
			results.Close() //nolint:errcheck // the first error is the one to report
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return results.Close()
}
