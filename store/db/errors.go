package db

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Errors that a caller can act on.
var (
	ErrNotFound  = errors.New("not found")
	ErrStale     = errors.New("the row changed meanwhile: load it and decide again")
	ErrNameTaken = errors.New("the name is taken")
	ErrFenced    = errors.New("fenced: the attempt is another's")
	ErrConflict  = errors.New("this contradicts what is stored")
	ErrKeyReused = errors.New("the key was used for another request")
	ErrNoAccount = errors.New("every cloud account is full")
)

// PostgreSQL's codes, https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	uniqueViolation = "23505"
	checkViolation  = "23514"
	foreignKey      = "23503"
	Deadlock        = "40P01"
	LockTimeout     = "55P03"
)

// WasRolledBack reports that PostgreSQL refused a statement or the commit of a change, so that nothing of it is stored. After any other error
// of a commit, it may be stored or not.
func WasRolledBack(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.SeverityUnlocalized == "ERROR"
}

// Plain replaces a database error by one of the store's own, or wraps it in one, where one fits.
func Plain(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch {
	case pg.Code == uniqueViolation && pg.ConstraintName == "clusters_live_name":
		return ErrNameTaken
	case pg.Code == uniqueViolation, pg.Code == checkViolation, pg.Code == foreignKey:
		return fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}
