package clusters

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
)

// Cluster returns one cluster. ErrNotFound: there is none of that id.
func (s *DB) Cluster(ctx context.Context, id string) (Row, error) {
	row, err := s.OneRow(ctx, `WHERE c.id = @id`, pgx.NamedArgs{"id": id})
	if err != nil {
		return Row{}, fmt.Errorf("read cluster %s: %w", id, err)
	}
	return row, nil
}

func (s *DB) OneRow(ctx context.Context, where string, args pgx.NamedArgs) (Row, error) {
	r, err := db.One[RowRecord](ctx, s.Pool(), `SELECT `+RowColumns+OfOne+RowSources+where, args)
	if err != nil {
		return Row{}, err
	}
	return r.Row(), nil
}
