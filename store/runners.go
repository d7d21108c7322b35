package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// How many runners run is the number of open attempts, and nothing else. Apply counts them under a lock before it opens one, so that
// no cap is ever passed. The queue only says who comes next: if its rows are wrong or late, runners start later, and never too many.

// idleAfter is how long a cluster whose runner may start keeps others waiting before the next pass gives its slot away as well.
const idleAfter = time.Minute

// account is the cloud account of a cluster c; empty: that of the runners' own identity.
const account = `coalesce(c.spec ->> 'account', '')`

// lockRunners makes openings wait for each other. It is taken before any row is locked.
func lockRunners(ctx context.Context, c *db.Tx) error {
	if c.DB.Options.Limits.Runners == (lifecycle.RunnerCaps{}) {
		return nil
	}
	return c.TakeLocks(ctx, []string{"runners"})
}

// checkRunner returns ErrStale if a runner of the kind may not start for the cluster any more.
func checkRunner(ctx context.Context, c *db.Tx, cluster string, kind lifecycle.Kind) error {
	caps := c.DB.Options.Limits.Runners
	slot, err := slotIn(ctx, c, cluster, caps)
	if err != nil {
		return err
	}
	if !caps.MayRun(kind, slot) {
		return db.ErrStale
	}
	return nil
}

// slotIn reads whether a runner may start for a cluster without an open attempt. Without caps nothing has to be counted.
func slotIn(ctx context.Context, from db.Source, cluster string, caps lifecycle.RunnerCaps) (lifecycle.Slot, error) {
	type slot struct {
		Platform, Account, Region      string
		Everywhere, Here, Near         int // runners: all, of the account, of the region
		Urgent, HereUrgent, NearUrgent int // those that may use the reserved part
		Waiting                        map[lifecycle.Kind]int
		Kind                           lifecycle.Kind
		Next                           bool
		Position                       int
		Words                          string
	}
	if caps == (lifecycle.RunnerCaps{}) {
		return lifecycle.Slot{}, nil
	}
	r, err := db.One[slot](ctx, from, `
		WITH me AS (SELECT c.id, c.platform, `+account+` AS account, c.region FROM clusters c WHERE c.id = @cluster),
		runners AS (
			SELECT a.kind IN ('destroy', 'access') AS urgent, c.platform = me.platform AND `+account+` = me.account AS here, c.region = me.region AS near
			FROM attempts a JOIN clusters c ON c.id = a.cluster_id, me WHERE a.closed_at IS NULL)
		SELECT me.platform, me.account, me.region, n.*,
			coalesce((SELECT jsonb_object_agg(w.kind, w.n) FROM (
				SELECT kind, count(*) AS n FROM runner_queue WHERE cluster_id <> me.id GROUP BY kind) w), '{}') AS waiting,
			coalesce(q.kind, '') AS kind, q.next_at IS NOT NULL AS next, coalesce(q.position, 0) AS position, coalesce(q.words, '') AS words
		FROM me LEFT JOIN runner_queue q ON q.cluster_id = me.id, (
			SELECT count(*) AS everywhere, count(*) FILTER (WHERE here) AS here, count(*) FILTER (WHERE here AND near) AS near,
				count(*) FILTER (WHERE urgent) AS urgent, count(*) FILTER (WHERE here AND urgent) AS here_urgent,
				count(*) FILTER (WHERE here AND near AND urgent) AS near_urgent FROM runners) n`, pgx.NamedArgs{"cluster": cluster})
	if err != nil {
		return lifecycle.Slot{}, fmt.Errorf("count the runners: %w", err)
	}
	return lifecycle.Slot{
		Site:       lifecycle.Site{Platform: r.Platform, Account: r.Account, Region: r.Region},
		Everywhere: lifecycle.RunnerUse{All: r.Everywhere, Urgent: r.Urgent},
		InAccount:  lifecycle.RunnerUse{All: r.Here, Urgent: r.HereUrgent},
		InRegion:   lifecycle.RunnerUse{All: r.Near, Urgent: r.NearUrgent},
		Waiting:    r.Waiting, Kind: r.Kind, Next: r.Next, Position: r.Position, For: r.Words,
	}, nil
}

// queueForRunner puts a cluster into the queue for a free runner. One that waits there for the same keeps its position.
func queueForRunner(ctx context.Context, c *db.Tx, cluster string, w lifecycle.RunnerWait) error {
	tag, err := c.Exec(ctx, `
		INSERT INTO runner_queue AS q (cluster_id, kind, account, since, position, words)
		SELECT c.id, @kind, `+account+`, @now, @position, @words FROM clusters c WHERE c.id = @cluster
		ON CONFLICT (cluster_id) DO UPDATE SET kind = excluded.kind, since = excluded.since, position = excluded.position,
			words = excluded.words, eta = NULL, next_at = NULL
		WHERE q.kind <> excluded.kind`,
		pgx.NamedArgs{"cluster": cluster, "kind": w.Kind, "now": c.Now, "position": w.Position, "words": w.For})
	if err != nil {
		return fmt.Errorf("have %s wait for a runner: %w", cluster, err)
	}
	if tag.RowsAffected() > 0 {
		clusters.NextTurns(c)
	}
	return nil
}

// leaveRunnerQueue takes a cluster that waits no more out of the queue.
func leaveRunnerQueue(ctx context.Context, c *db.Tx, cluster string) error {
	tag, err := c.Exec(ctx, `DELETE FROM runner_queue WHERE cluster_id = $1`, cluster)
	if err != nil {
		return fmt.Errorf("take %s out of the queue for a runner: %w", cluster, err)
	}
	if tag.RowsAffected() > 0 {
		clusters.NextTurns(c)
	}
	return nil
}

// runnerWaiter is a cluster in the queue, with the position that it shows.
type runnerWaiter struct {
	Cluster  string
	Kind     lifecycle.Kind
	Team     string
	Weight   int
	Priority int
	Platform string
	Account  string
	Region   string
	Since    time.Time
	Position int
	Words    string
	ETA      *time.Time
	NextAt   *time.Time
}

// AssignRunners lets the next clusters in the queue start their runners, stores the positions of the others, and reconciles those
// that have news. Only one pass runs at a time, in any process. It returns how many may start that could not before.
func (s *Store) AssignRunners(ctx context.Context) (started int, err error) {
	err = s.Write(ctx, func(c *db.Tx) (err error) {
		if err := c.TakeLocks(ctx, []string{"runner queue"}); err != nil {
			return err
		}
		started, err = assignRunners(ctx, c)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("assign runners: %w", err)
	}
	return started, nil
}

func assignRunners(ctx context.Context, c *db.Tx) (started int, err error) {
	_, err = c.Exec(ctx, `
		DELETE FROM runner_queue q USING clusters c WHERE c.id = q.cluster_id AND (c.destroyed_at IS NOT NULL
			OR EXISTS (SELECT FROM attempts a WHERE a.cluster_id = c.id AND a.closed_at IS NULL))`)
	if err != nil {
		return 0, fmt.Errorf("remove what waits no more: %w", err)
	}
	waiting, err := db.All[runnerWaiter](ctx, c, `
		SELECT q.cluster_id AS cluster, q.kind, c.team, c.weight, c.priority, c.platform, q.account, c.region,
			CASE WHEN q.kind = 'create' THEN c.created_at ELSE q.since END AS since, q.position, q.words, q.eta, q.next_at
		FROM runner_queue q JOIN clusters c ON c.id = q.cluster_id`)
	if err != nil {
		return 0, fmt.Errorf("read who waits: %w", err)
	}
	if len(waiting) == 0 {
		return 0, nil
	}
	running, err := runners(ctx, c)
	if err != nil {
		return 0, err
	}
	var teams []string
	for _, w := range waiting {
		if w.Kind == lifecycle.Create { // only creates are shared between teams
			teams = append(teams, w.Team)
		}
	}
	used, err := usage.Recent(ctx, c, teams)
	if err != nil {
		return 0, err
	}
	asks := make([]lifecycle.RunnerWaiter, len(waiting))
	for i, w := range waiting {
		asks[i] = lifecycle.RunnerWaiter{
			Cluster: w.Cluster, Kind: w.Kind, Team: w.Team, Weight: w.Weight, Priority: w.Priority, Used: used[w.Team], Since: w.Since, Idle: isIdle(c, w),
			Site: lifecycle.Site{Platform: w.Platform, Account: w.Account, Region: w.Region},
		}
	}
	_, places := c.DB.Options.Limits.Runners.Take(asks, running)
	return keepRunnerQueue(ctx, c, waiting, places)
}

// isIdle reports that the cluster's runner may start for a while, and did not.
func isIdle(c *db.Tx, w runnerWaiter) bool {
	return w.NextAt != nil && c.Now.Sub(*w.NextAt) >= idleAfter
}

// runners returns what runs, and when each may end by the duration of earlier attempts.
func runners(ctx context.Context, c *db.Tx) ([]lifecycle.Runner, error) {
	type runner struct {
		Kind                            lifecycle.Kind
		Team, Platform, Account, Region string
		Ends                            *time.Time
	}
	found, err := db.All[runner](ctx, c, `
		SELECT a.kind, c.team, c.platform, `+account+` AS account, c.region, a.opened_at + a.expected_seconds * interval '1 second' AS ends
		FROM attempts a JOIN clusters c ON c.id = a.cluster_id WHERE a.closed_at IS NULL`)
	if err != nil {
		return nil, fmt.Errorf("read what runs: %w", err)
	}
	running := make([]lifecycle.Runner, len(found))
	for i, r := range found {
		running[i] = lifecycle.Runner{
			Kind: r.Kind, Team: r.Team, Ends: toCome(c, r.Ends), Site: lifecycle.Site{Platform: r.Platform, Account: r.Account, Region: r.Region},
		}
	}
	return running, nil
}

// keepRunnerQueue stores what a pass found. It locks no cluster's row: whoever holds one may be about to take it out of the queue.
// Therefore the reconciles that it enqueues are not counted in the row, and their own number keeps them apart from others.
func keepRunnerQueue(ctx context.Context, c *db.Tx, waiting []runnerWaiter, places map[string]lifecycle.Turn) (started int, err error) {
	var ids, words []string
	var numbers []int
	var etas, since []*time.Time
	for _, was := range waiting {
		now := after(c, was, places)
		if now.NextAt != nil && was.NextAt == nil {
			started++
		}
		if now.shows(was) || isIdle(c, was) {
			c.Enqueue(queue.ReconcileArgs{Cluster: was.Cluster, Pokes: -c.Now.UnixMicro()})
		}
		if now.shows(was) || !db.Zero(now.ETA).Equal(db.Zero(was.ETA)) {
			ids, numbers, words = append(ids, now.Cluster), append(numbers, now.Position), append(words, now.Words)
			etas, since = append(etas, now.ETA), append(since, now.NextAt)
		}
	}
	_, err = c.Exec(ctx, `
		UPDATE runner_queue q SET position = n.position, words = n.words, eta = n.eta, next_at = n.next_at
		FROM unnest($1::text[], $2::int[], $3::text[], $4::timestamptz[], $5::timestamptz[]) AS n (id, position, words, eta, next_at)
		WHERE q.cluster_id = n.id`, ids, numbers, words, etas, since)
	if err != nil {
		return 0, fmt.Errorf("write the queue for runners: %w", err)
	}
	return started, nil
}

// after returns the waiter as it is after a pass that gave these positions. Whoever has none may start.
func after(c *db.Tx, w runnerWaiter, places map[string]lifecycle.Turn) runnerWaiter {
	turn, waits := places[w.Cluster]
	if !waits {
		w.ETA = nil
		if w.NextAt == nil {
			w.NextAt = &c.Now
		}
		return w
	}
	if turn.Moved(w.Position) {
		w.Position = turn.Position
	}
	w.NextAt, w.Words, w.ETA = nil, turn.For, db.Null(turn.ETA)
	return w
}

// shows reports that the cluster has something new to show, or to do.
func (w runnerWaiter) shows(was runnerWaiter) bool {
	return w.Position != was.Position || w.Words != was.Words || (w.NextAt == nil) != (was.NextAt == nil)
}

// RunnerCount is the number of runners of one kind that run, and of clusters that wait for one.
type RunnerCount struct {
	Kind             lifecycle.Kind
	Running, Waiting int64
}

// RunnersByKind counts the running and the waiting attempts of every kind.
func (s *Store) RunnersByKind(ctx context.Context) ([]RunnerCount, error) {
	counts, err := db.All[RunnerCount](ctx, s.Pool(), `
		SELECT k.kind, (SELECT count(*) FROM attempts a WHERE a.closed_at IS NULL AND a.kind = k.kind) AS running,
			(SELECT count(*) FROM runner_queue q WHERE q.kind = k.kind) AS waiting
		FROM unnest($1::text[]) AS k (kind)`, lifecycle.Kinds())
	if err != nil {
		return nil, fmt.Errorf("count runners: %w", err)
	}
	return counts, nil
}
