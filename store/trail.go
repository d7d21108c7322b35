package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Timeline returns what happened to a cluster and why, oldest first. It includes every phase that a runner reported, also one
// that ended before a decision was made on it.
func (s *Store) Timeline(ctx context.Context, cluster string) ([]Event, error) {
	type line struct {
		CreatedAt time.Time
		Actor     string
		Action    string
		Metadata  json.RawMessage
	}
	lines, err := db.All[line](ctx, s.Pool(), `
		SELECT created_at, actor, action, metadata FROM audit_events WHERE target_cluster_id = $1 ORDER BY seq`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read the timeline of %s: %w", cluster, err)
	}
	events := make([]Event, len(lines))
	for i, l := range lines {
		e := Event{At: l.CreatedAt, Actor: l.Actor, Action: l.Action, Meta: l.Metadata}
		var m db.Move
		if json.Unmarshal(l.Metadata, &m) == nil { // some actions have metadata of another shape
			e.From, e.To, e.Why, e.Brief, e.Reason = m.From, m.To, m.Why, m.Brief, m.Reason
		}
		events[i] = e
	}
	quick, err := s.phases(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return withPhases(events, quick), nil
}

// Event is one line of a cluster's timeline.
type Event struct {
	At       time.Time
	Actor    string
	Name     string `db:"-"` // the actor's display name; whoever shows the event fills it in
	Action   string
	From, To string // "STATUS/phase" of a decided move; empty otherwise
	Why      string
	Brief    string           // Why without how a create failed; empty: it does not tell that
	Reason   lifecycle.Reason // why, if nobody gave words for it
	Meta     json.RawMessage
}
