package inbox

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/store/db"
)

// saveDelivery is one statement, and so one round trip and one commit: the row and, if the row is new, the River job that
// processes it. It writes River's row as River's client does (a test compares the two), unique by its arguments in the
// unfinished states. River is notified after the commit.
//
// The worker of a topic's oldest delivery also processes those behind it. So the job of a delivery with others ahead of it runs
// later, by a quarter of a second for each and half a minute at most: a storm on one pull request leaves the workers free.
// Deliveries that failed before do not delay it, and nothing delays an urgent one.
const saveDelivery = `
	WITH fresh AS (
		INSERT INTO deliveries (source, delivery_id, event, topic, body, installation, traceparent, received_at)
		VALUES ($1, $2, $3, $4, $5, $7, $9, coalesce($11::timestamptz, clock_timestamp()))
		ON CONFLICT (source, delivery_id) DO NOTHING RETURNING id
	), ahead AS (
		SELECT count(*) AS n FROM (
			SELECT FROM deliveries WHERE state = 'received' AND topic = $4 AND installation = $7 AND tries = 0 AND $4 <> '' LIMIT 116) AS queued
	)
	INSERT INTO river_job (kind, queue, priority, max_attempts, args, metadata, unique_key, unique_states, scheduled_at)
	SELECT 'inbox', 'inbox', $10::smallint, $6, jsonb_build_object('row', id), coalesce($8::jsonb, '{}'),
		sha256(convert_to('&kind=inbox&args={"row":' || id || '}', 'UTF8')), B'11110001',
		CASE WHEN n = 0 OR $10::smallint = 1 THEN now() ELSE now() + interval '1 second' + n * interval '250 milliseconds' END FROM fresh, ahead`

// SaveDelivery stores a delivery and enqueues its processing, whose correlation id is the delivery's. Once it returns, the delivery survives any crash. fresh is false
// if the source sent this id before: then nothing was written.
func (s *Store) SaveDelivery(ctx context.Context, d Delivery) (fresh bool, err error) {
	ctx = tracing.With(ctx, tracing.Cause{Correlation: d.ID})
	priority := queue.InboxPriority
	if d.Urgent {
		priority = queue.UrgentPriority
	}
	tag, err := s.db.Pool().Exec(ctx, saveDelivery, d.Source, d.ID, d.Event, d.Topic, d.Body, queue.InboxTries, d.Installation,
		queue.Metadata(ctx), tracing.Of(ctx).Traceparent, priority, s.db.Fixed())
	if err != nil {
		return false, fmt.Errorf("save delivery %s: %w", d.ID, db.Plain(err))
	}
	if tag.RowsAffected() == 0 {
		return false, nil
	}
	s.db.QueueNotifier.Notify(queue.QueueInbox)
	return true, nil
}

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
