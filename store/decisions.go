package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/store/db"
)

// CheckHits is how often a check, or one of its parts, ended with a result.
type CheckHits struct {
	Name, Part, Result string
	Requests, People   int
	Principals         []string // up to mostHit of them
	Last               time.Time
}

// mostHit is how many principals CheckHits names.
const mostHit = 5

// CheckHits counts what the checks of requests since a time did; those that simply passed are not counted.
func (s *Store) CheckHits(ctx context.Context, since time.Time) ([]CheckHits, error) {
	hits, err := db.All[CheckHits](ctx, s.Pool(), `
		SELECT name, part, result, count(*) AS requests, count(DISTINCT principal_id) AS people,
			(array_agg(DISTINCT principal_id))[1:$2] AS principals, max(at) AS last
		FROM request_checks WHERE at >= $1 GROUP BY name, part, result ORDER BY name, part, result`, since, mostHit)
	if err != nil {
		return nil, fmt.Errorf("count what checks did: %w", err)
	}
	return hits, nil
}

// Decision is a request as it was judged.
type Decision struct {
	ID      string
	Request json.RawMessage
	Usage   json.RawMessage // what was counted; nil: it was not kept
	Allowed bool
	At      time.Time
}

// Decisions returns requests since a time, the newest first and at most so many; before is the last one of the page before, zero for the
// first page.
func (s *Store) Decisions(ctx context.Context, since time.Time, before Decision, most int) ([]Decision, error) {
	until := before.At
	if until.IsZero() {
		until = time.Now().AddDate(100, 0, 0)
	}
	page, err := db.All[Decision](ctx, s.Pool(), `
		SELECT id, request, usage, allowed, created_at AS at FROM cluster_requests
		WHERE created_at >= $1 AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4`, since, until, before.ID, most)
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	return page, nil
}

// LastDecision returns the newest request of some principals.
func (s *Store) LastDecision(ctx context.Context, principals []string) (last Decision, found bool, err error) {
	list, err := db.All[Decision](ctx, s.Pool(), `
		SELECT id, request, usage, allowed, created_at AS at FROM cluster_requests WHERE principal_id = ANY ($1) ORDER BY created_at DESC, id DESC LIMIT 1`, principals)
	if err != nil || len(list) == 0 {
		return Decision{}, false, err
	}
	return list[0], true, nil
}
