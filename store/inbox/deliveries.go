package inbox

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// DeliveryState says whether a delivery was processed.
type DeliveryState string

// The states.
const (
	DeliveryReceived DeliveryState = "received" // it waits, or is being processed
	DeliveryDone     DeliveryState = "done"
	DeliveryFailed   DeliveryState = "failed" // it is not processed any more
)

// Reason says why a failed delivery was not processed. Each is a finding.
type Reason string

// The reasons. What was only malformed, or was answered, has none.
const (
	ReasonGivenUp        Reason = "given_up"          // every try failed, for a day
	ReasonRefused        Reason = "refused_by_github" // GitHub refused what it needs, for longer than a bad moment
	ReasonDuplicateField Reason = "duplicate_field"   // the body has a field twice, of which one is read
	ReasonWrongEvent     Reason = "wrong_event"       // the body does not fit the event that its header names
	ReasonUnreadable     Reason = "unreadable"        // a field that is read has another type than GitHub describes
)

// DeliveryInfo is a delivery and what became of it, without its body.
type DeliveryInfo struct {
	Row                      int64
	Source, ID, Event, Topic string
	State                    DeliveryState
	Reason                   Reason // why it failed; empty: it did not, or was answered
	Note                     string // what became of it
	Size                     int    // of the body, in bytes
	ReceivedAt               time.Time
	FinishedAt               *time.Time // nil while received
}

// DeliveryFilter selects deliveries; empty fields do not filter.
type DeliveryFilter struct {
	Source, Event, Topic string
	State                DeliveryState
	Cursor               string // row of the last one seen; newest first
	Limit                int    // default 50, at most 500
}

const deliveryColumns = `d.id AS row, d.source, d.delivery_id AS id, d.event, d.topic, d.state, d.reason, d.note, octet_length(d.body) AS size, d.received_at, d.finished_at`

// Deliveries returns a page of deliveries, newest first, and the cursor of the next; empty: this is the last. ErrConflict: the
// cursor is invalid.
func (s *Store) Deliveries(ctx context.Context, f DeliveryFilter) (page []DeliveryInfo, next string, err error) {
	limit := db.PageOf(f.Limit)
	w := db.Conditions{Args: pgx.NamedArgs{"limit": limit + 1}}
	w.Add(f.Source != "", "d.source = @source", "source", f.Source)
	w.Add(f.Event != "", "d.event = @event", "event", f.Event)
	w.Add(f.Topic != "", "d.topic = @topic", "topic", f.Topic)
	w.Add(f.State != "", "d.state = @state", "state", f.State)
	if f.Cursor != "" {
		row, err := db.Cursor(f.Cursor)
		if err != nil {
			return nil, "", fmt.Errorf("list deliveries: %w", err)
		}
		w.Add(true, "d.id < @cursor", "cursor", row)
	}
	page, err = db.All[DeliveryInfo](ctx, s.db.Pool(), `SELECT `+deliveryColumns+` FROM deliveries d `+w.Where()+` ORDER BY d.id DESC LIMIT @limit`, w.Args)
	if err != nil {
		return nil, "", fmt.Errorf("list deliveries: %w", err)
	}
	if len(page) > limit {
		page = page[:limit]
		next = strconv.FormatInt(page[limit-1].Row, 10)
	}
	return page, next, nil
}

// DeliveryBody returns one delivery and its body as received. Headers are not kept.
func (s *Store) DeliveryBody(ctx context.Context, row int64) (DeliveryInfo, []byte, error) {
	type record struct {
		DeliveryInfo
		Body []byte
	}
	d, err := db.One[record](ctx, s.db.Pool(), `SELECT `+deliveryColumns+`, d.body FROM deliveries d WHERE d.id = $1`, row)
	if err != nil {
		return DeliveryInfo{}, nil, fmt.Errorf("read delivery %d: %w", row, err)
	}
	return d.DeliveryInfo, d.Body, nil
}

// Replay processes a delivery again at once, whatever its state, and returns it as it stands. A cause that was answered is not
// applied twice.
func (s *Store) Replay(ctx context.Context, row int64, d clusters.Origin) (DeliveryInfo, error) {
	var again DeliveryInfo
	err := s.db.Write(ctx, func(c *db.Tx) error {
		was, err := db.One[DeliveryInfo](ctx, c, `SELECT `+deliveryColumns+` FROM deliveries d WHERE d.id = $1 FOR UPDATE`, row)
		if err != nil {
			return err
		}
		// If River has not yet recorded the end of the previous run, the job inserted here is taken for that run. The delivery
		// is then asked for again soon, at nudge_at.
		again, err = db.One[DeliveryInfo](ctx, c, `
			UPDATE deliveries d SET state = 'received', finished_at = NULL, tries = 0, failing_since = NULL, refused_since = NULL, try_at = NULL, reason = '',
				nudge_at = @nudge, note = @note WHERE d.id = @row RETURNING `+deliveryColumns,
			pgx.NamedArgs{"row": row, "nudge": c.Now.Add(clusters.NudgeSoon), "note": "again, for " + d.DisplayName() + "; before: " + lastNote(was.Note)})
		if err != nil {
			return fmt.Errorf("put it back: %w", err)
		}
		// A job that waits for its next attempt is brought forward; if there is none, a new one is inserted.
		if err := c.RunNow(ctx, queue.InboxArgs{}.Kind(), `args = jsonb_build_object('row', @row::bigint)`, river.NamedArgs{"row": row}); err != nil {
			return err
		}
		c.Enqueue(queue.InboxArgs{Row: row})
		return clusters.RecordAction(c, d, "delivery_replayed", "", clusters.Action{
			Before: map[string]any{"state": was.State, "note": was.Note}, After: map[string]any{"state": again.State},
			Note: fmt.Sprintf("%s %s, row %d", was.Source, was.ID, row),
		})
	})
	if err != nil {
		return DeliveryInfo{}, fmt.Errorf("replay delivery %d: %w", row, err)
	}
	return again, nil
}

// maxNote bounds what is kept of the previous note, which contains the one before it.
const maxNote = 2000

func lastNote(note string) string {
	if len(note) > maxNote {
		return strings.ToValidUTF8(note[:maxNote], "") + "…"
	}
	return note
}

// Delivery is one received webhook or request, stored before it was answered.
type Delivery struct {
	Row        int64
	Source     string // "github" or "slack"
	ID         string // X-GitHub-Delivery, or Slack's trigger or event id
	Event      string // X-GitHub-Event, or Slack's kind
	Topic      string // what it is about, e.g. "owner/name#41"; deliveries of one topic are processed in order of arrival; empty: about nothing
	Body       []byte
	ReceivedAt time.Time
	ReadAt     time.Time // by the database's clock. Only Delivery fills it

	Installation int64      // of the App; 0: none
	Traceparent  string     // of the trace that begins with it; empty: none is recorded. SaveDelivery takes it from the context
	Tries        int        // how often it was tried without success
	FailingSince *time.Time // when the first try failed; nil: none did
	RefusedSince *time.Time // since when GitHub refuses what it needs; nil: the last try did not end so
	Urgent       bool       // somebody waits for what opens within three seconds. Only SaveDelivery reads it
}
