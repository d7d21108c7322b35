package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// reported is the first report of a phase by a runner.
type reported struct {
	Attempt    int // number
	Kind       lifecycle.Kind
	Phase      lifecycle.Phase
	ReceivedAt time.Time
	OpenedAt   time.Time  // of the attempt
	ClosedAt   *time.Time // of the attempt
}

// phases returns the reported phases of a cluster's creates and destroys, in order. Preflight is left out: the move that opens
// an attempt shows it, and a cluster that waits for capacity repeats it again and again.
func (s *Store) phases(ctx context.Context, cluster string) ([]reported, error) {
	out, err := db.All[reported](ctx, s.Pool(), `
		SELECT a.number AS attempt, a.kind, r.phase, r.received_at, a.opened_at, a.closed_at
		FROM attempts a CROSS JOIN LATERAL (
			SELECT DISTINCT ON (phase) phase, seq, received_at FROM reports
			WHERE attempt_id = a.id AND phase NOT IN ('', 'preflight') ORDER BY phase, seq) r
		WHERE a.cluster_id = $1 AND a.kind IN ('create', 'destroy') ORDER BY a.number, r.seq`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read the phases of %s: %w", cluster, err)
	}
	return out, nil
}

// withPhases adds to a timeline the reported phases that no decision moved to, because the next one came before the decision.
// The decided moves stay as they are in the audit trail. An attempt's phases stand in the order of their reports.
func withPhases(events []Event, phases []reported) []Event {
	after, attempt := 0, 0
	for _, p := range phases {
		if p.Attempt != attempt {
			after, attempt = 0, p.Attempt
		}
		if at := findDecision(events, p); at >= 0 {
			after = max(after, at+1)
			continue
		}
		words := lifecycle.PhaseText(p.Kind, p.Phase)
		if words == "" {
			continue
		}
		at := slices.IndexFunc(events, func(e Event) bool { return e.At.After(p.ReceivedAt) })
		if at < 0 {
			at = len(events)
		}
		at = max(at, after)
		status := lifecycle.Creating
		if p.Kind == lifecycle.Destroy {
			status = lifecycle.Destroying
		}
		events = slices.Insert(events, at, Event{At: p.ReceivedAt, Actor: db.Lifecycle, Action: "reported", To: string(status) + "/" + string(p.Phase), Why: words})
		after = at + 1
	}
	return events
}

// findDecision returns the index of the event that moved to the phase while its attempt was open; -1: there is none.
func findDecision(events []Event, p reported) int {
	return slices.IndexFunc(events, func(e Event) bool {
		_, phase, moved := strings.Cut(e.To, "/")
		during := !e.At.Before(p.OpenedAt) && (p.ClosedAt == nil || !e.At.After(*p.ClosedAt))
		return moved && phase == string(p.Phase) && during
	})
}
