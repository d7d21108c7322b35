package reports

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// lostFor is how long a lost delivery is a finding. It stays in the list of deliveries for longer.
const lostFor = 3 * 24 * time.Hour

// WorkFindings returns the deliveries that have failed for five minutes, those that were given up or refused, the jobs that used up their tries,
// and the newest proposal of a day that GitHub refused. A job counts until a later one of the same kind and subject completes, and for a day at
// most: WakeDue enqueues unfinished work again. Inbox jobs do not count: their deliveries do. A proposal counts until a later one is opened.
func (s *Store) WorkFindings(ctx context.Context) ([]lifecycle.Finding, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	deliveries, err := db.All[lifecycle.Finding](ctx, s.db.Pool(), `
		SELECT 'delivery_failing' AS kind, '' AS cluster, 'delivery ' || id AS identity, failing_since AS since,
			'the ' || event || ' of ' || topic || ' cannot be worked and is tried again' AS why,
			ARRAY[source || ' ' || delivery_id, note] AS evidence
		FROM deliveries WHERE state = 'received' AND failing_since <= $1 ORDER BY failing_since LIMIT $2`, now.Add(-queue.FailingFor), queue.MostWorkFindings)
	if err != nil {
		return nil, fmt.Errorf("look for deliveries that fail: %w", err)
	}
	lost, err := db.All[lifecycle.Finding](ctx, s.db.Pool(), `
		SELECT 'delivery_lost' AS kind, '' AS cluster, 'delivery ' || id AS identity, finished_at AS since,
			'the ' || event || CASE topic WHEN '' THEN '' ELSE ' of ' || topic END || ' was not processed: ' || reason AS why,
			ARRAY[source || ' ' || delivery_id, note] AS evidence
		FROM deliveries WHERE state = 'failed' AND reason <> '' AND finished_at > $1 ORDER BY finished_at DESC LIMIT $2`, now.Add(-lostFor), queue.MostWorkFindings)
	if err != nil {
		return nil, fmt.Errorf("look for deliveries that are lost: %w", err)
	}
	jobs, err := db.All[lifecycle.Finding](ctx, s.db.Pool(), `
		WITH ended AS (
			SELECT kind, state, finalized_at, attempt, errors, args, coalesce((SELECT c.id FROM clusters c WHERE c.id = args ->> 'cluster'), '') AS cluster,
				kind || coalesce(' ' || coalesce(args ->> 'cluster', args ->> 'subscriber', args ->> 'reply', args ->> 'effect'), '') AS identity
			FROM river_job WHERE state IN ('discarded', 'completed') AND kind <> 'inbox' AND finalized_at > $2
		)
		SELECT DISTINCT ON (identity) 'job_failed' AS kind, cluster, identity, finalized_at AS since,
			'a ' || kind || ' job used up its ' || attempt || ' tries' AS why,
			ARRAY[args::text, coalesce(errors[array_upper(errors, 1)] ->> 'error', '')] AS evidence
		FROM ended d WHERE state = 'discarded'
			AND NOT EXISTS (SELECT FROM ended c WHERE c.state = 'completed' AND c.identity = d.identity AND c.finalized_at > d.finalized_at)
			AND NOT EXISTS (SELECT FROM findings f WHERE f.kind = 'job_failed' AND f.identity = d.identity AND f.resolved_at >= d.finalized_at)
		ORDER BY identity, finalized_at DESC LIMIT $1`, queue.MostWorkFindings, now.Add(-24*time.Hour))
	if err != nil {
		return nil, fmt.Errorf("look for jobs that used up their tries: %w", err)
	}
	proposals, err := db.All[lifecycle.Finding](ctx, s.db.Pool(), `
		SELECT DISTINCT ON (repo) 'job_failed' AS kind, '' AS cluster, 'effect ' || id AS identity, done_at AS since,
			'GitHub refuses to open a pull request with a proposed change of the catalogue in ' || repo AS why, ARRAY[note] AS evidence
		FROM effects e WHERE kind = 'propose_catalogue' AND given_up AND refused_since IS NOT NULL AND done_at > $1
			AND NOT EXISTS (SELECT FROM effects o WHERE o.kind = e.kind AND o.repo = e.repo AND o.done_at > e.done_at AND NOT o.given_up)
		ORDER BY repo, done_at DESC LIMIT $2`, now.Add(-24*time.Hour), queue.MostWorkFindings)
	if err != nil {
		return nil, fmt.Errorf("look for proposals that GitHub refuses: %w", err)
	}
	return slices.Concat(deliveries, lost, jobs, proposals), nil
}
