package inbox

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/store/db"
)

// Waiting is a delivery that is not processed yet, without its body.
type Waiting struct {
	Row          int64
	Installation int64
	Tries        int        // how often it was tried without success
	ReceivedAt   time.Time  // when it came in
	TryAt        *time.Time // when it is tried again; nil: it did not fail
}

const waitingColumns = `id AS row, installation, tries, received_at, try_at`

// Undone returns a topic's unprocessed deliveries of one installation, in order of arrival. At most 200: ask again for the rest.
func (s *Store) Undone(ctx context.Context, topic string, installation int64) ([]Waiting, error) {
	rows, err := db.All[Waiting](ctx, s.db.Pool(), `SELECT `+waitingColumns+` FROM deliveries
		WHERE state = 'received' AND topic = $1 AND installation = $2 ORDER BY id LIMIT 200`, topic, installation)
	if err != nil {
		return nil, fmt.Errorf("look for undone deliveries of %s: %w", topic, err)
	}
	return rows, nil
}

// UndoneAbout returns the unprocessed deliveries of some topics that arrived before a row, in order of arrival.
func (s *Store) UndoneAbout(ctx context.Context, topics []string, before int64) ([]Waiting, error) {
	rows, err := db.All[Waiting](ctx, s.db.Pool(), `SELECT `+waitingColumns+` FROM deliveries
		WHERE state = 'received' AND topic = ANY ($1) AND id < $2 ORDER BY id`, topics, before)
	if err != nil {
		return nil, fmt.Errorf("look for undone deliveries of %v: %w", topics, err)
	}
	return rows, nil
}

// UndoneAfter returns the first unprocessed delivery of a topic that arrived after a row; 0: there is none.
func (s *Store) UndoneAfter(ctx context.Context, topic string, after int64) (first int64, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT coalesce(min(id), 0) FROM deliveries WHERE state = 'received' AND topic = $1 AND id > $2`, topic, after).Scan(&first)
	if err != nil {
		return 0, fmt.Errorf("look for later deliveries of %s: %w", topic, err)
	}
	return first, nil
}

// UndoneIn returns the unprocessed deliveries about a repository, by any of its names, that arrived before a row, in order of
// arrival. Those about its pull requests and commits are included.
func (s *Store) UndoneIn(ctx context.Context, names []string, before int64) ([]Waiting, error) {
	rows, err := db.All[Waiting](ctx, s.db.Pool(), `SELECT `+waitingColumns+` FROM deliveries
		WHERE state = 'received' AND split_part(topic, '#', 1) = ANY ($1) AND id < $2 ORDER BY id`, names, before)
	if err != nil {
		return nil, fmt.Errorf("look for undone deliveries in %v: %w", names, err)
	}
	return rows, nil
}
