package db

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Lifecycle is the actor of the control plane's own decisions.
const Lifecycle = "lifecycle"

// auditLine is one line of the audit trail before it has its place in the hash chain.
type auditLine struct {
	actor, action, door, cluster, meta string
	at                                 time.Time
}

// Record adds one line of the audit trail to the change.
func (c *Tx) Record(_ context.Context, actor, action, cluster string, meta any) error {
	door := ""
	if m, ok := meta.(Move); ok {
		door = m.Source
	}
	return c.RecordLine(actor, action, door, cluster, meta)
}

func (c *Tx) RecordLine(actor, action, door, cluster string, meta any) error {
	raw, err := json.Marshal(meta)
	if err != nil {
		return fmt.Errorf("encode audit of %s: %w", action, err)
	}
	c.lines = append(c.lines, auditLine{actor, action, door, cluster, string(Keepable(raw)), c.Now})
	return nil
}

// notifyLines tells followers whose clusters got a line, because not all that a line reports changes the cluster's row.
func (s *DB) notifyLines(lines []auditLine) {
	var clusters []string
	for _, l := range lines {
		if l.cluster != "" {
			clusters = append(clusters, l.cluster)
		}
	}
	if len(clusters) > 0 {
		s.LogNotifier.Logs(clusters...)
	}
}

// Keepable replaces NUL, which PostgreSQL does not store in JSON.
func Keepable(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte(`\u0000`), []byte(`\ufffd`)) }

// queueLines writes the change's lines. The database gives each its place in the chain, under a lock that lasts until the
// commit: nothing that may wait comes after it.
func (c *Tx) queueLines(b *Batch) {
	if len(c.lines) == 0 {
		return
	}
	var actors, actions, doors, clusters, metas []string
	var times []time.Time
	for _, l := range c.lines {
		actors, actions, doors = append(actors, l.actor), append(actions, l.action), append(doors, l.door)
		clusters, metas, times = append(clusters, l.cluster), append(metas, l.meta), append(times, l.at)
	}
	b.Do("write the audit trail", `
		INSERT INTO audit_events (actor, action, source, target_cluster_id, metadata, created_at)
		SELECT actor, action, source, nullif(cluster, ''), meta::jsonb, at
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
			WITH ORDINALITY AS l (actor, action, source, cluster, meta, at, nr) ORDER BY nr`,
		actors, actions, doors, clusters, metas, times)
}

// Move is the metadata of an audit line: what happened, from where to where, and why.
type Move struct {
	From    string           `json:"from,omitempty"`
	To      string           `json:"to,omitempty"`
	Why     string           `json:"why,omitempty"`
	Brief   string           `json:"brief,omitempty"` // Why without how a create failed; empty: it does not tell that
	Reason  lifecycle.Reason `json:"reason,omitzero"` // why, if nobody gave words for it
	Job     string           `json:"job,omitempty"`
	Name    string           `json:"name,omitempty"`
	Source  string           `json:"source,omitempty"`
	Request string           `json:"request,omitempty"`
	End     string           `json:"end,omitempty"`
	At      *time.Time       `json:"at,omitempty"`
	Attempt int              `json:"attempt,omitempty"` // opened by this move
	Kind    lifecycle.Kind   `json:"kind,omitempty"`
	Closed  int              `json:"closed,omitempty"` // attempt closed by this move
	Capped  bool             `json:"capped,omitempty"`
	Checks  json.RawMessage  `json:"checks,omitempty"`
}
