// Package clusters reads and writes what the packages of the store share: clusters, who changed them and why, replies and approvals.
package clusters

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// Read returns one cluster. ErrNotFound: there is none of that id.
func Read(ctx context.Context, s *db.DB, id string) (Row, error) {
	row, err := ReadWhere(ctx, s, `WHERE c.id = @id`, pgx.NamedArgs{"id": id})
	if err != nil {
		return Row{}, fmt.Errorf("read cluster %s: %w", id, err)
	}
	return row, nil
}

// ReadIn is Read within a change, which sees what that wrote.
func ReadIn(ctx context.Context, c *db.Tx, id string) (Row, error) {
	r, err := db.One[RowRecord](ctx, c, `SELECT `+RowColumns+OfOne+RowSources+`WHERE c.id = $1`, id)
	if err != nil {
		return Row{}, fmt.Errorf("read cluster %s: %w", id, err)
	}
	return r.Row(), nil
}

func ReadWhere(ctx context.Context, s *db.DB, where string, args pgx.NamedArgs) (Row, error) {
	r, err := db.One[RowRecord](ctx, s.Pool(), `SELECT `+RowColumns+OfOne+RowSources+where, args)
	if err != nil {
		return Row{}, err
	}
	return r.Row(), nil
}
