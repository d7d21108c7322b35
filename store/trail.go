package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
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
	lines, err := all[line](ctx, s.pool, `
		SELECT created_at, actor, action, metadata FROM audit_events WHERE target_cluster_id = $1 ORDER BY seq`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read the timeline of %s: %w", cluster, err)
	}
	events := make([]Event, len(lines))
	for i, l := range lines {
		e := Event{At: l.CreatedAt, Actor: l.Actor, Action: l.Action, Meta: l.Metadata}
		var m move
		if json.Unmarshal(l.Metadata, &m) == nil { // some actions have metadata of another shape
			e.From, e.To, e.Why = m.From, m.To, m.Why
		}
		events[i] = e
	}
	quick, err := s.phases(ctx, cluster)
	if err != nil {
		return nil, err
	}
	return withPhases(events, quick), nil
}

// Attempts returns every attempt at a cluster's jobs, oldest first.
func (s *Store) Attempts(ctx context.Context, cluster string) ([]AttemptRow, error) {
	out, err := all[AttemptRow](ctx, s.pool, `
		SELECT number, kind, opened_at, claimed_at, phase, recorded_at, tool_exited_at, tool_exit_code,
			closed_at, coalesce(outcome, '') AS outcome, reason, message, whose, next, retryable, workers_wanted, workers_seen, addons_wanted, addons_seen
		FROM attempts WHERE cluster_id = $1 ORDER BY number`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read attempts of %s: %w", cluster, err)
	}
	return out, nil
}

// Verifications returns every verification pass of a cluster, oldest first: the evidence for its release.
func (s *Store) Verifications(ctx context.Context, cluster string) ([]VerificationRow, error) {
	passes, err := all[VerificationRow](ctx, s.pool, `
		SELECT a.number AS attempt, v.number, v.received_at AS at, v.account, v.identities, v.control, v.queries, v.leftovers, v.words, v.clean
		FROM verifications v JOIN attempts a ON a.id = v.attempt_id WHERE a.cluster_id = $1 ORDER BY a.number, v.number`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read verifications of %s: %w", cluster, err)
	}
	return passes, nil
}

// Conditions returns the observed facts about a cluster.
func (s *Store) Conditions(ctx context.Context, cluster string) ([]Condition, error) {
	out, err := all[Condition](ctx, s.pool, `
		SELECT type, status, reason, message, changed_at AS at FROM conditions WHERE cluster_id = $1 ORDER BY type`, cluster)
	if err != nil {
		return nil, fmt.Errorf("read conditions of %s: %w", cluster, err)
	}
	return out, nil
}
