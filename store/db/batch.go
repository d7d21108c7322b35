package db

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Batch is a list of statements that go to the database in one round trip, in order. Others wait for this change's locks for as
// long as its round trips take.
type Batch struct {
	pgx.Batch
	statements []statement
	inserts    map[string]*queuedQuery // by the statement for one row
}

type queuedQuery = pgx.QueuedQuery

type statement struct {
	what string               // for its error
	read func(pgx.Rows) error // nil: it returns nothing of interest
}

// Do adds a statement.
func (b *Batch) Do(what, sql string, args ...any) { b.Ask(what, nil, sql, args...) }

// Ask adds a statement and reads its rows.
func (b *Batch) Ask(what string, read func(pgx.Rows) error, sql string, args ...any) {
	b.Queue(sql, args...)
	b.statements = append(b.statements, statement{what, read})
}

// Into reads the only row into a value, by column name. ErrNotFound: there is none.
func Into[T any](to *T) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*to, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
		return Plain(err)
	}
}

// List reads all rows into a list, by column name.
func List[T any](to *[]T) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*to, err = pgx.CollectRows(rows, pgx.RowToStructByName[T])
		return Plain(err)
	}
}

// Send runs the statements in order and stops at the first error.
func (c *Tx) Send(ctx context.Context, b *Batch) (err error) {
	results := c.SendBatch(ctx, &b.Batch)
	for _, s := range b.statements {
		if s.read == nil {
			_, err = results.Exec()
		} else {
			rows, _ := results.Query() // the rows return its error again
			err = s.read(rows)
		}
		if err != nil {
			results.Close() // the first error is the one to report
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return results.Close()
}
