package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// settles is after how long no transaction can still commit an earlier end: idleLimit ends the slow ones much sooner.
const settles = 15 * time.Minute

// ended counts clusters and jobs for the metrics without counting the many old ones each time: ended jobs never change, and released
// clusters only when a leak opens their teardown again, so those that ended before until are counted once. After a leak all are counted anew.
// Looks for links that succeeded are not counted, because their rows are deleted.
type ended struct {
	mu       sync.Mutex
	until    time.Time
	clusters int64
	reopened int64 // how often a teardown had been opened again when the clusters were counted
	jobs     map[jobKind]int64
}

type jobKind struct {
	Type   lifecycle.JobType
	Status lifecycle.JobStatus
}

// count adds the clusters by status and the jobs by type and status.
func (e *ended) count(ctx context.Context, s *Store, out *Census) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	type group struct {
		jobKind
		Settled, Newer int64
	}
	until, from := now.Add(-settles), e.until
	var reopened int64
	if err := s.Pool().QueryRow(ctx, `SELECT coalesce(sum(reopened), 0) FROM clusters WHERE reopened_at IS NOT NULL`).Scan(&reopened); err != nil {
		return fmt.Errorf("count teardowns that were opened again: %w", err)
	}
	if reopened != e.reopened {
		from, e.clusters, e.reopened = time.Time{}, 0, reopened
	}
	clusters, err := db.All[group](ctx, s.Pool(), `
		SELECT '' AS type, status, 0::bigint AS settled, count(*) AS newer FROM clusters
			WHERE status IN ('PENDING', 'CREATING', 'READY', 'FAILED', 'DESTROYING') GROUP BY status
		UNION ALL SELECT '', 'DESTROYED', count(*) FILTER (WHERE destroyed_at <= $2), count(*) FILTER (WHERE destroyed_at > $2)
			FROM clusters WHERE destroyed_at > $1`, from, until)
	if err != nil {
		return fmt.Errorf("count clusters: %w", err)
	}
	jobs, err := db.All[group](ctx, s.Pool(), `
		SELECT job_type AS type, status, 0::bigint AS settled, count(*) AS newer FROM jobs WHERE ended_at IS NULL GROUP BY job_type, status
		UNION ALL SELECT job_type, status, count(*) FILTER (WHERE ended_at <= $2), count(*) FILTER (WHERE ended_at > $2)
			FROM jobs WHERE ended_at > $1 AND NOT (job_type = 'INFORM' AND status = 'SUCCEEDED') GROUP BY job_type, status`, e.until, until)
	if err != nil {
		return fmt.Errorf("count jobs: %w", err)
	}
	e.until = until
	for _, g := range clusters {
		e.clusters += g.Settled
		out.Clusters[lifecycle.Status(g.Status)] += g.Newer
	}
	out.Clusters[lifecycle.Destroyed] += e.clusters
	if e.jobs == nil {
		e.jobs = map[jobKind]int64{}
	}
	newer := map[jobKind]int64{}
	for _, g := range jobs {
		e.jobs[g.jobKind] += g.Settled
		newer[g.jobKind] += g.Newer
	}
	total := maps.Clone(e.jobs)
	for kind, n := range newer {
		total[kind] += n
	}
	for kind, n := range total {
		if n > 0 {
			out.Jobs = append(out.Jobs, JobCount{kind.Type, kind.Status, n})
		}
	}
	slices.SortFunc(out.Jobs, func(a, b JobCount) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Status, b.Status)) })
	return nil
}
