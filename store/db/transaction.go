package db

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// transaction is a connection as a pgx.Tx, for a transaction whose begin and commit are statements of a batch. pgx's own takes a
// round trip for each of them.
type transaction struct{ conn }

// conn is named apart from pgx.Tx's method.
type conn = *pgxpool.Conn

// end rolls back what was not committed and returns the connection to the pool. The pool closes a connection that is still in a
// transaction.
func (t transaction) end(ctx context.Context) {
	if t.conn.Conn().PgConn().TxStatus() != 'I' {
		_ = t.Rollback(context.WithoutCancel(ctx))
	}
	t.Release()
}

// Rollback undoes the transaction.
func (t transaction) Rollback(ctx context.Context) error {
	_, err := t.Exec(ctx, "rollback")
	return err
}

var errNotHere = errors.New("this transaction is committed by its change and has no parts")

// Commit is an error: DB.Write commits.
func (t transaction) Commit(context.Context) error { return errNotHere }

// Begin is an error: a change has no savepoints.
func (t transaction) Begin(context.Context) (pgx.Tx, error) { return nil, errNotHere }

// LargeObjects returns nothing: there are none.
func (t transaction) LargeObjects() pgx.LargeObjects { return pgx.LargeObjects{} }

// Prepare prepares a statement.
func (t transaction) Prepare(ctx context.Context, name, sql string) (*pgconn.StatementDescription, error) {
	return t.conn.Conn().Prepare(ctx, name, sql)
}
