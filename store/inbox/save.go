package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/store/db"
)

const (
	groupRows     = 64      // deliveries that are saved together
	groupSize     = 4 << 20 // bytes of their bodies; a larger one is saved alone
	groupTime     = 10 * time.Second
	writersAtOnce = 2 // one group is written while the other waits for the disk
)

// saveDeliveries is one statement, and so one round trip and one commit for a group: the rows and, for each row that is new, the River job
// that processes it. It writes River's row as River's client does (a test compares the two), unique by its arguments in the
// unfinished states. River is notified after the commit. It returns the places in the group of the new rows.
//
// The worker of a topic's oldest delivery also processes those behind it. So the job of a delivery with others ahead of it runs
// later, by a quarter of a second for each and half a minute at most: a storm on one pull request leaves the workers free.
// Deliveries that failed before do not delay it, and nothing delays an urgent one.
const saveDeliveries = `
	WITH fresh AS (
		INSERT INTO deliveries (source, delivery_id, event, topic, body, installation, traceparent, received_at)
		SELECT source, delivery_id, event, topic, body, installation, traceparent, coalesce($10::timestamptz, clock_timestamp())
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bigint[], $7::text[]) WITH ORDINALITY
			AS came (source, delivery_id, event, topic, body, installation, traceparent, place) ORDER BY place
		ON CONFLICT (source, delivery_id) DO NOTHING RETURNING id, source, delivery_id, topic, installation
	), waiting AS (
		SELECT f.id, came.place, came.priority, came.metadata, CASE WHEN f.topic = '' OR came.priority = 1 THEN 0 ELSE least(116,
			row_number() OVER (PARTITION BY f.topic, f.installation ORDER BY f.id) - 1 + (SELECT count(*) FROM (
				SELECT FROM deliveries d WHERE d.state = 'received' AND d.topic = f.topic AND d.installation = f.installation AND d.tries = 0 LIMIT 116) AS queued)) END AS ahead
		FROM fresh f JOIN unnest($1::text[], $2::text[], $8::smallint[], $9::jsonb[]) WITH ORDINALITY
			AS came (source, delivery_id, priority, metadata, place) USING (source, delivery_id)
	), jobs AS (
		INSERT INTO river_job (kind, queue, priority, max_attempts, args, metadata, unique_key, unique_states, scheduled_at)
		SELECT 'inbox', 'inbox', priority, $11, jsonb_build_object('row', id), coalesce(metadata, '{}'),
			sha256(convert_to('&kind=inbox&args={"row":' || id || '}', 'UTF8')), B'11110001',
			CASE WHEN ahead = 0 THEN now() ELSE now() + interval '1 second' + ahead * interval '250 milliseconds' END FROM waiting ORDER BY id
	)
	SELECT place FROM waiting`

// arrival is a delivery that waits to be saved.
type arrival struct {
	Delivery
	metadata []byte // of its job
	fresh    bool
	err      error
	done     chan struct{} // closed once it is saved, or not
}

// arrivals are the deliveries that wait to be saved. Those that arrive while others are being saved are saved together; one that arrives
// alone is saved at once.
type arrivals struct {
	mu      sync.Mutex
	waiting []*arrival // in order of arrival
	writers int        // each saves one group after the other until none waits
}

// SaveDelivery stores a delivery and enqueues its processing, whose correlation id is the delivery's. Once it returns, the delivery survives any crash. fresh is false
// if the source sent this id before: then nothing was written. After an error it may be stored or not.
func (s *Store) SaveDelivery(ctx context.Context, d Delivery) (fresh bool, err error) {
	ctx = tracing.With(ctx, tracing.Cause{Correlation: d.ID})
	d.Traceparent = tracing.Of(ctx).Traceparent
	a := &arrival{Delivery: d, metadata: queue.Metadata(ctx), done: make(chan struct{})}
	if s.arrivals.add(a) {
		go s.saveArrivals() // it ends when nobody waits; until then its connection holds up the pool's Close
	}
	select {
	case <-a.done:
		err = a.err
	case <-ctx.Done():
		s.arrivals.remove(a)
		err = ctx.Err()
	}
	if err != nil {
		return false, fmt.Errorf("save delivery %s: %w", d.ID, db.Plain(err))
	}
	return a.fresh, nil
}

// add adds a delivery to those that wait. needsWriter: the caller must start a writer.
func (w *arrivals) add(a *arrival) (needsWriter bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = append(w.waiting, a)
	if w.writers >= writersAtOnce {
		return false
	}
	w.writers++
	return true
}

// remove removes a delivery for which nobody waits any longer, unless it is being saved.
func (w *arrivals) remove(gone *arrival) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = slices.DeleteFunc(w.waiting, func(a *arrival) bool { return a == gone })
}

// takeGroup returns the deliveries to save together, in order of arrival. If there is none, the writer has to end. A second delivery with
// the same id belongs to the next group, which finds it stored.
func (w *arrivals) takeGroup() []*arrival {
	w.mu.Lock()
	defer w.mu.Unlock()
	size, ids, n := 0, map[[2]string]bool{}, 0
	for ; n < len(w.waiting) && n < groupRows; n++ {
		a := w.waiting[n]
		id := [2]string{a.Source, a.ID}
		if size += len(a.Body); n > 0 && size > groupSize || ids[id] {
			break
		}
		ids[id] = true
	}
	group := slices.Clone(w.waiting[:n])
	w.waiting = slices.Delete(w.waiting, 0, n)
	if n == 0 {
		w.writers--
	}
	return group
}

// saveArrivals saves one group after the other until no delivery waits. Each caller waits for its own, as long as its own context lasts,
// so none of their contexts ends a group.
func (s *Store) saveArrivals() {
	for group := s.arrivals.takeGroup(); len(group) > 0; group = s.arrivals.takeGroup() {
		err := s.saveGroup(group)
		var refused *pgconn.PgError
		if len(group) > 1 && errors.As(err, &refused) { // one that PostgreSQL refuses takes no other with it
			for _, a := range group {
				a.err = s.saveGroup([]*arrival{a})
				close(a.done)
			}
			continue
		}
		for _, a := range group {
			a.err = err
			close(a.done)
		}
	}
}

func (s *Store) saveGroup(group []*arrival) error {
	ctx, cancel := context.WithTimeout(context.Background(), groupTime)
	defer cancel()
	var sources, ids, events, topics, traceparents []string
	var bodies, metadata [][]byte
	var installations []int64
	var priorities []int16
	for _, a := range group {
		priority := queue.InboxPriority
		if a.Urgent {
			priority = queue.UrgentPriority
		}
		sources, ids, events, topics, traceparents = append(sources, a.Source), append(ids, a.ID), append(events, a.Event), append(topics, a.Topic), append(traceparents, a.Traceparent)
		bodies, metadata = append(bodies, a.Body), append(metadata, a.metadata)
		installations, priorities = append(installations, a.Installation), append(priorities, int16(priority))
	}
	rows, _ := s.db.Pool().Query(ctx, saveDeliveries, sources, ids, events, topics, bodies, installations, traceparents, priorities, metadata,
		s.db.Fixed(), queue.InboxTries) // the rows return its error again
	places, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for _, place := range places {
		group[place-1].fresh = true
	}
	if len(places) > 0 {
		s.db.QueueNotifier.Notify(queue.QueueInbox)
	}
	return nil
}
