package store

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// Census counts clusters and jobs by state, and open findings.
type Census struct {
	Clusters map[lifecycle.Status]int64
	Jobs     []JobCount
	Findings map[lifecycle.FindingKind]int64 // those of blocked teardowns that an admin abandoned count as AbandonedFinding
	Room     map[string]int64                // reservations that count, by state: granted, waiting
	Again    map[string]int64                // webhooks that GitHub was asked to send again, by state: came, awaited, given_up
	Budgets  []outbox.GitHubBudget
	Away     map[int64]time.Duration // for how long GitHub has not answered, by installation
}

// AbandonedFinding is how a census counts the finding of a blocked teardown that an admin abandoned: no alert is about it.
const AbandonedFinding lifecycle.FindingKind = "abandoned"

// JobCount is the number of jobs of one type in one state.
type JobCount struct {
	Type   lifecycle.JobType
	Status lifecycle.JobStatus
	N      int64
}

// Census counts every cluster and job ever, without looks for links that succeeded, and every open finding, by group. A kind without findings is counted as 0.
func (s *Store) Census(ctx context.Context) (Census, error) {
	out := Census{Clusters: map[lifecycle.Status]int64{}, Findings: map[lifecycle.FindingKind]int64{}, Room: map[string]int64{clusters.Granted: 0, clusters.Waiting: 0}}
	for status := range lifecycle.Phases {
		out.Clusters[status] = 0
	}
	for _, kind := range append(lifecycle.FindingKinds(), AbandonedFinding) {
		out.Findings[kind] = 0
	}
	if err := s.ended.count(ctx, s, &out); err != nil {
		return Census{}, err
	}
	findings, err := db.All[db.NamedCount](ctx, s.Pool(), `
		SELECT CASE WHEN f.kind = $1 AND c.abandoned THEN $2 ELSE f.kind END AS name, count(*) AS n
		FROM findings f LEFT JOIN clusters c ON c.id = f.cluster_id WHERE f.resolved_at IS NULL GROUP BY 1`, lifecycle.Blocked, AbandonedFinding)
	if err != nil {
		return Census{}, fmt.Errorf("count findings: %w", err)
	}
	for _, g := range findings {
		out.Findings[lifecycle.FindingKind(g.Name)] = g.N
	}
	room, err := db.All[db.NamedCount](ctx, s.Pool(), `
		SELECT r.state AS name, count(*) AS n FROM reservations r JOIN clusters c ON c.id = r.cluster_id JOIN attempts a ON a.id = r.attempt_id
		WHERE c.destroyed_at IS NULL AND CASE r.state
			WHEN 'waiting' THEN c.desired = 'present' ELSE a.closed_at IS NULL OR a.recorded_at IS NOT NULL END
		GROUP BY r.state`)
	if err != nil {
		return Census{}, fmt.Errorf("count reservations: %w", err)
	}
	for _, g := range room {
		out.Room[g.Name] = g.N
	}
	if out.Again, err = s.Inbox.Redeliveries(ctx); err != nil {
		return Census{}, err
	}
	if out.Budgets, err = s.Outbox.GitHubBudgets(ctx); err != nil {
		return Census{}, err
	}
	out.Away, err = s.Outbox.GitHubAway(ctx)
	return out, err
}
