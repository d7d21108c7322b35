package usage

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Afford judges a change that makes an existing cluster cost more, by the usage of its scope, counted behind the same locks as
// for a new cluster. An error of Judge refuses the change and comes back wrapped.
type Afford struct {
	Scope Scope // whose usage the cluster counts toward
	Judge func(Usage, Rise) (warning string, err error)

	Reached func(Usage, Rise) []Threshold // the parts of the budget that are reached with an allowed change; nil: nobody hears of them
}

// Threshold is a part of a team's monthly budget that is reached: people hear of each once a month.
type Threshold struct {
	Team    string `json:"team"`
	Percent int    `json:"percent"`
	Cents   int64  `json:"cents"` // what the team has spent this month and promised to its clusters
	Budget  int64  `json:"budget"`
}

// Rise is what a change adds to a cluster's usage, from now until its end.
type Rise struct {
	Cents     int64
	NodeHours float64

	Older int // if the scope has a cohort: how many of the team's live clusters were accepted before this one
}

// WaitToAfford takes the locks of the scope; none if a is nil.
func WaitToAfford(ctx context.Context, c *db.Tx, a *Afford) error {
	if a == nil {
		return nil
	}
	return c.TakeLocks(ctx, a.Scope.Locks())
}

// JudgeRise judges the change from cur to next. A change that adds no usage is not judged. ErrStale: the cluster moved to another
// team since the scope was read.
func JudgeRise(ctx context.Context, c *db.Tx, cur Held, next lifecycle.Cluster, a *Afford) (warning string, reached []Threshold, err error) {
	if a == nil {
		return "", nil, nil
	}
	rise := cur.toCome(next, c.Now)
	before := cur.toCome(cur.Cluster, c.Now)
	rise.Cents, rise.NodeHours = rise.Cents-before.Cents, rise.NodeHours-before.NodeHours
	if rise.Cents <= 0 && rise.NodeHours <= 0 {
		return "", nil, nil
	}
	var team string
	if err := c.QueryRow(ctx, `SELECT team FROM clusters WHERE id = $1`, cur.ID).Scan(&team); err != nil || team != a.Scope.Team {
		if err == nil {
			err = db.ErrStale
		}
		return "", nil, err
	}
	used, err := Count(ctx, c, a.Scope)
	if err == nil && a.Scope.Cohort != nil {
		rise.Older, err = countOlder(ctx, c, cur.ID)
	}
	if err != nil {
		return "", nil, err
	}
	if warning, err = a.Judge(used, rise); err == nil && a.Reached != nil {
		reached = a.Reached(used, rise)
	}
	return warning, reached, err
}

// toCome is what the cluster uses from now until its end. Ends that a pull request or a run sets do not count: they can be
// withdrawn without a judgement.
func (h Held) toCome(c lifecycle.Cluster, now time.Time) Rise {
	end := lifecycle.Ends{TTL: c.Ends.TTL, Max: c.Ends.Max, Hold: c.Ends.Hold}.DestroyAt()
	workers := c.WorkersWanted
	if workers == nil {
		workers = PresentWorkers(c)
	}
	machines := price.Machines(h.Machines, orZero(c.WorkersBase), orZero(workers))
	return Rise{
		Cents:     price.Between(h.Coming(c), now, end).Cents(),
		NodeHours: float64(machines) * max(0, end.Sub(now)).Hours(),
	}
}

// countOlder counts the live clusters of a cluster's team that were accepted, or claimed from a pool, before it.
func countOlder(ctx context.Context, c *db.Tx, cluster string) (n int, err error) {
	err = c.QueryRow(ctx, `SELECT count(*)::int FROM clusters c, clusters o WHERE c.id = $1 AND o.team = c.team AND o.destroyed_at IS NULL AND (NOT o.needs_turn OR o.needs_approval)
		AND (greatest(o.created_at, o.claimed_at), o.id) < (greatest(c.created_at, c.claimed_at), c.id)`, cluster).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count what the team had before %s: %w", cluster, err)
	}
	return n, nil
}
