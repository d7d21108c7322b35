package inbox

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/store/db"
)

// Delivery returns a stored delivery; done: it is finished, processed or failed.
func (s *Store) Delivery(ctx context.Context, row int64) (d Delivery, done bool, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT id, source, delivery_id, event, topic, installation, body, received_at, tries, failing_since, refused_since, traceparent,
			coalesce($2::timestamptz, clock_timestamp()), state <> 'received' FROM deliveries WHERE id = $1`, row, s.db.Fixed()).
		Scan(&d.Row, &d.Source, &d.ID, &d.Event, &d.Topic, &d.Installation, &d.Body, &d.ReceivedAt, &d.Tries, &d.FailingSince, &d.RefusedSince, &d.Traceparent, &d.ReadAt, &done)
	if err != nil {
		return Delivery{}, false, fmt.Errorf("read delivery %d: %w", row, db.Plain(err))
	}
	return d, done, nil
}

// FinishDelivery marks a delivery as processed. The note is the result.
func (s *Store) FinishDelivery(ctx context.Context, row int64, note string) error {
	return s.endDelivery(ctx, row, DeliveryDone, "", note)
}

// FailDelivery marks a delivery as one that is not processed any more. The note says why. Without a reason it is no finding.
func (s *Store) FailDelivery(ctx context.Context, row int64, reason Reason, note string) error {
	return s.endDelivery(ctx, row, DeliveryFailed, reason, note)
}

// RetryDelivery notes why a try of a delivery failed, and when it is tried again: after wait, or if that is zero after one
// second that doubles with every try, up to a minute. refused: GitHub refused what it needs.
func (s *Store) RetryDelivery(ctx context.Context, row int64, why string, refused bool, wait time.Duration) error {
	now, err := s.db.Now(ctx)
	if err != nil {
		return fmt.Errorf("note a failed try of delivery %d: %w", row, err)
	}
	_, err = s.db.Pool().Exec(ctx, `
		UPDATE deliveries SET tries = tries + 1, failing_since = coalesce(failing_since, $3), try_at = $3 + w.wait,
			refused_since = CASE WHEN $5 THEN coalesce(refused_since, $3) END,
			nudge_at = greatest(nudge_at, $3 + w.wait), note = 'try ' || tries + 1 || ' failed and is repeated: ' || $2::text
		FROM (SELECT CASE WHEN $4::interval > interval '0' THEN $4::interval
			ELSE least(interval '1 minute', interval '1 second' * power(2, least(tries, 6))) END AS wait FROM deliveries WHERE id = $1) AS w
		WHERE id = $1 AND state = 'received'`, row, why, now, wait, refused)
	if err != nil {
		return fmt.Errorf("note a failed try of delivery %d: %w", row, db.Plain(err))
	}
	return nil
}

func (s *Store) endDelivery(ctx context.Context, row int64, state DeliveryState, reason Reason, note string) error {
	_, err := s.db.Pool().Exec(ctx, `
		UPDATE deliveries SET state = $2, note = $3, finished_at = coalesce($4::timestamptz, clock_timestamp()), reason = $5
		WHERE id = $1 AND state = 'received'`, row, state, note, s.db.Fixed(), reason)
	if err != nil {
		return fmt.Errorf("end delivery %d: %w", row, err)
	}
	return nil
}
