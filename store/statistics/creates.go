package statistics

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// CreateState says what became of a create.
type CreateState string

// The states.
const (
	CreateReady   CreateState = "ready"
	CreateFailed  CreateState = "failed"
	CreateRunning CreateState = "creating"
	CreateEnded   CreateState = "ended" // the cluster was not wanted any more before it was ready
)

// Create is how a cluster was created, with all attempts.
type Create struct {
	Profile, Cluster, Name, Team string
	State                        CreateState
	Began                        time.Time // of the first attempt
	Seconds                      int64     // from there until it was ready, or until the last attempt ended; until now if it goes on
	Tries                        int
	Reason                       string // why it failed; empty: it did not, or that is not known
}

// Incident counts what went wrong with clusters of a profile.
type Incident struct {
	Profile, Kind, Reason string // Kind of the attempt
	Attempts, Clusters    int
	LastAt                time.Time
}

// Creates returns the newest creates of each profile, the newest first; at most so many of each.
func (s *Store) Creates(ctx context.Context, profiles []string, most int) ([]Create, error) {
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	list, err := db.All[Create](ctx, s.db.Pool(), creates, pgx.NamedArgs{"profiles": profiles, "most": most, "failed": lifecycle.ReasonInstallFailed, "now": now})
	if err != nil {
		return nil, fmt.Errorf("read the newest creates: %w", err)
	}
	return list, nil
}

const creates = `
	SELECT c.profile, c.id AS cluster, c.name, c.team, t.state, a.began, a.tries,
		greatest(0, extract(epoch FROM CASE t.state WHEN 'ready' THEN c.ready_at WHEN 'creating' THEN @now ELSE coalesce(a.ended, @now) END - a.began))::bigint AS seconds,
		CASE WHEN t.state = 'failed' THEN coalesce(c.fail_reason, '') ELSE '' END AS reason
	FROM unnest(@profiles::text[]) AS p (profile), LATERAL (
		SELECT * FROM clusters c WHERE c.profile = p.profile AND EXISTS (SELECT FROM attempts a WHERE a.cluster_id = c.id AND a.kind = 'create')
		ORDER BY c.id DESC LIMIT @most) AS c,
	LATERAL (SELECT min(opened_at) AS began, max(closed_at) AS ended, count(*)::integer AS tries FROM attempts WHERE cluster_id = c.id AND kind = 'create') AS a,
	LATERAL (SELECT CASE WHEN c.ready_at IS NOT NULL THEN 'ready' WHEN c.desired_why ->> 'code' = @failed OR c.status = 'FAILED' THEN 'failed'
		WHEN c.desired = 'absent' THEN 'ended' ELSE 'creating' END AS state) AS t
	ORDER BY c.profile, c.id DESC`

// Incidents returns the failed attempts since a time by profile, the most frequent first.
func (s *Store) Incidents(ctx context.Context, since time.Time) ([]Incident, error) {
	list, err := db.All[Incident](ctx, s.db.Pool(), `
		SELECT c.profile, a.kind, CASE WHEN a.outcome = 'lost' THEN 'lost' ELSE a.reason END AS reason,
			count(*)::integer AS attempts, count(DISTINCT c.id)::integer AS clusters, max(a.closed_at) AS last_at
		FROM attempts a JOIN clusters c ON c.id = a.cluster_id
		WHERE a.closed_at >= $1 AND a.outcome IN ('failed', 'lost') GROUP BY 1, 2, 3 ORDER BY attempts DESC, last_at DESC`, since)
	if err != nil {
		return nil, fmt.Errorf("read what failed since %s: %w", since.Format(time.RFC3339), err)
	}
	return list, nil
}

// ReadyIn returns how long the creates took that made a cluster ready.
func ReadyIn(list []Create) (n int, took Spread) {
	var all []time.Duration
	for _, c := range list {
		if c.State == CreateReady {
			all = append(all, time.Duration(c.Seconds)*time.Second)
		}
	}
	return len(all), spreadOf(all)
}
