package inbox

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/ocpctl/ocpctl/store/db"
)

const (
	mostRefused = 100     // refused deliveries that are kept; the oldest goes first
	mostKept    = 1 << 20 // bytes of a body; a larger one is kept as its checksum
)

// refusedID is the beginning of the ids of refused deliveries. A delivery that is sent again, and accepted then, has its own id, so a
// refused one never stands in its way.
const refusedID = "refused:"

// KeepRefused keeps a delivery that was refused and never will be processed by itself, with its reason. It bounds their number and size, so
// that no sender can fill the disk. The same delivery is kept once.
func (s *Store) KeepRefused(ctx context.Context, d Delivery, reason Reason, note string) error {
	if len(d.Body) > mostKept {
		note += fmt.Sprintf(" (of the body of %d bytes, only the SHA-256 checksum is kept: %x)", len(d.Body), sha256.Sum256(d.Body))
		d.Body = nil
	}
	_, err := s.db.Pool().Exec(ctx, `
		WITH oldest AS (
			DELETE FROM deliveries WHERE id IN (
				SELECT id FROM deliveries WHERE state = 'failed' AND reason <> '' AND starts_with(delivery_id, $1) ORDER BY id DESC OFFSET $2)
		)
		INSERT INTO deliveries (source, delivery_id, event, topic, body, installation, received_at, state, finished_at, reason, note)
		SELECT $3, $1 || $4, $5, $6, coalesce($7, ''::bytea), $8, t.now, 'failed', t.now, $9, $10 FROM (SELECT coalesce($11::timestamptz, clock_timestamp()) AS now) AS t
		ON CONFLICT (source, delivery_id) DO NOTHING`,
		refusedID, mostRefused-1, d.Source, d.ID, d.Event, d.Topic, d.Body, d.Installation, reason, note, s.db.Fixed())
	if err != nil {
		return fmt.Errorf("keep the refused delivery %s: %w", d.ID, db.Plain(err))
	}
	return nil
}
