package store

import (
	"context"
	"fmt"
)

// saveDelivery is one statement, and so one trip and one commit: the row and the River job that works it, inserted only
// with a row that is new. It writes River's row as River's client does (a test compares the two), unique by its arguments
// in the unfinished states. The bell tells River after the commit: see bell.
const saveDelivery = `
	WITH fresh AS (
		INSERT INTO deliveries (source, delivery_id, event, topic, body) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (source, delivery_id) DO NOTHING RETURNING id
	)
	INSERT INTO river_job (kind, queue, max_attempts, args, unique_key, unique_states)
	SELECT 'inbox', 'inbox', $6, jsonb_build_object('row', id),
		sha256(convert_to('&kind=inbox&args={"row":' || id || '}', 'UTF8')), B'11110001' FROM fresh`

// SaveDelivery keeps a delivery and asks for its processing; once it returned, the delivery survives anything.
// fresh is false when the source sent this id before: then nothing was written.
func (s *Store) SaveDelivery(ctx context.Context, d Delivery) (fresh bool, err error) {
	tag, err := s.pool.Exec(ctx, saveDelivery, d.Source, d.ID, d.Event, d.Topic, d.Body, inboxTries)
	if err != nil {
		return false, fmt.Errorf("save delivery %s: %w", d.ID, plain(err))
	}
	if tag.RowsAffected() == 0 {
		return false, nil
	}
	s.bell.ring(QueueInbox)
	return true, nil
}

// Delivery returns a stored delivery; done says that it was finished, well or badly.
func (s *Store) Delivery(ctx context.Context, row int64) (d Delivery, done bool, err error) {
	err = s.pool.QueryRow(ctx, `
		SELECT id, source, delivery_id, event, topic, body, received_at, state <> 'received' FROM deliveries WHERE id = $1`, row).
		Scan(&d.Row, &d.Source, &d.ID, &d.Event, &d.Topic, &d.Body, &d.ReceivedAt, &done)
	if err != nil {
		return Delivery{}, false, fmt.Errorf("read delivery %d: %w", row, plain(err))
	}
	return d, done, nil
}

// FinishDelivery marks a delivery as worked. The note says what came of it.
func (s *Store) FinishDelivery(ctx context.Context, row int64, note string) error {
	return s.endDelivery(ctx, row, "done", note)
}

// FailDelivery marks a delivery as one that can never be worked. The note says why.
func (s *Store) FailDelivery(ctx context.Context, row int64, note string) error {
	return s.endDelivery(ctx, row, "failed", note)
}

func (s *Store) endDelivery(ctx context.Context, row int64, state, note string) error {
	_, err := s.pool.Exec(ctx, `
		UPDATE deliveries SET state = $2, note = $3, finished_at = coalesce($4::timestamptz, clock_timestamp())
		WHERE id = $1 AND state = 'received'`, row, state, note, s.fixed())
	if err != nil {
		return fmt.Errorf("end delivery %d: %w", row, err)
	}
	return nil
}
