package inbox

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// mostBehind limits what Behind returns: one person does not do more at once.
const mostBehind = 50

// Behind returns the bodies of the deliveries that wait behind a delivery, in the order in which they came: those of the same topic
// that arrived later and are not processed yet.
func (s *Store) Behind(ctx context.Context, source, delivery string) (bodies [][]byte, err error) {
	rows, err := s.db.Pool().Query(ctx, `
		SELECT later.body FROM deliveries this JOIN deliveries later ON later.topic = this.topic AND later.id > this.id AND later.state = 'received'
		WHERE this.source = $1 AND this.delivery_id = $2 AND this.topic <> '' ORDER BY later.id LIMIT $3`, source, delivery, mostBehind)
	if err == nil {
		bodies, err = pgx.CollectRows(rows, pgx.RowTo[[]byte])
	}
	if err != nil {
		return nil, fmt.Errorf("look behind delivery %s: %w", delivery, err)
	}
	return bodies, nil
}
