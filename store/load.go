package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/brakes"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Load reads what Decide needs about one cluster, from one snapshot. Whether the runner was seen is left Unknown: the store
// cannot see a process.
func (s *Store) Load(ctx context.Context, id string) (lifecycle.Cluster, lifecycle.Facts, error) {
	tx, err := s.Pool().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return lifecycle.Cluster{}, lifecycle.Facts{}, fmt.Errorf("load %s: %w", id, err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	cluster, facts, err := s.loadIn(ctx, tx, id)
	if err != nil {
		return lifecycle.Cluster{}, lifecycle.Facts{}, fmt.Errorf("load %s: %w", id, db.Plain(err))
	}
	return cluster, facts, nil
}

func (s *Store) loadIn(ctx context.Context, tx pgx.Tx, id string) (lifecycle.Cluster, lifecycle.Facts, error) {
	type record struct {
		Lifecycle  clusters.LifecycleRecord
		Clock      time.Time
		Identities []string
		Profile    string
		Team       string
		Described  string
		DeployedAt *time.Time
		InQueue    bool // for capacity
	}
	r, err := db.One[record](ctx, tx, `
		SELECT `+clusters.LifecycleColumns+`, coalesce(@fixed::timestamptz, clock_timestamp()) AS clock, ARRAY(`+usage.IdentitiesOf+`) AS identities, c.profile, c.team,
			concat_ws(E'\n', c.owner, c.team, c.repo || '#' || c.pr_number) AS described,
			greatest(pr.head_at, (SELECT max(r.finished_at) FROM runs r WHERE r.head_sha = pr.head AND r.head_sha <> '')) AS deployed_at,
			EXISTS (SELECT FROM reservations w WHERE w.cluster_id = c.id AND w.state = 'waiting') AS in_queue
		FROM clusters c LEFT JOIN pull_requests pr ON pr.repo = c.repo AND pr.number = c.pr_number WHERE c.id = @id`, pgx.NamedArgs{"id": id, "fixed": s.Fixed()})
	if err != nil {
		return lifecycle.Cluster{}, lifecycle.Facts{}, err
	}
	facts := lifecycle.Facts{Now: r.Clock, Identities: r.Identities, Profile: r.Profile, Team: r.Team, Described: r.Described, DeployedAt: db.Zero(r.DeployedAt)}
	if facts.Open, facts.Last, facts.Missed, err = attemptsIn(ctx, tx, id, r.Clock); err != nil {
		return lifecycle.Cluster{}, lifecycle.Facts{}, err
	}
	cluster := r.Lifecycle.Cluster
	if r.InQueue { // to plan the query of the position takes longer than all others here
		if facts.Queue, err = s.Attempts.QueueIn(ctx, tx, cluster, r.Clock); err != nil {
			return lifecycle.Cluster{}, lifecycle.Facts{}, err
		}
	}
	if facts.Turn, err = turnIn(ctx, tx, cluster); err != nil {
		return lifecycle.Cluster{}, lifecycle.Facts{}, err
	}
	if facts.Access, err = access.CountWork(ctx, tx, cluster); err != nil {
		return lifecycle.Cluster{}, lifecycle.Facts{}, err
	}
	if facts.Untagged, err = clusters.UntaggedOf(ctx, tx, cluster); err != nil {
		return lifecycle.Cluster{}, lifecycle.Facts{}, err
	}
	if facts.Leaked, err = clusters.LeakOf(ctx, tx, cluster); err != nil {
		return lifecycle.Cluster{}, lifecycle.Facts{}, err
	}
	if facts.Open == nil && (cluster.Status == lifecycle.Pending || cluster.Status == lifecycle.Creating) {
		if facts.Brake, err = brakes.HoldingFor(ctx, tx, id, r.Clock); err != nil {
			return lifecycle.Cluster{}, lifecycle.Facts{}, err
		}
	}
	if facts.Open == nil && (cluster.Phase != lifecycle.Released || facts.Leaked != nil) {
		if facts.Slot, err = slotIn(ctx, tx, id, s.DB.Options.Limits.Runners); err != nil {
			return lifecycle.Cluster{}, lifecycle.Facts{}, err
		}
	}
	return cluster, facts, nil
}

// turnIn reads a cluster's position in the queue for full quotas; the zero Turn: it does not wait there.
func turnIn(ctx context.Context, tx pgx.Tx, cluster lifecycle.Cluster) (lifecycle.Turn, error) {
	if !cluster.NeedsTurn {
		return lifecycle.Turn{}, nil
	}
	type turn struct {
		Position int
		Words    string
		ETA      *time.Time
	}
	rows, err := db.All[turn](ctx, tx, `SELECT position, words, eta FROM turns WHERE cluster_id = $1`, cluster.ID)
	if err != nil || len(rows) == 0 {
		return lifecycle.Turn{}, err
	}
	return lifecycle.Turn{Position: rows[0].Position, For: rows[0].Words, ETA: db.Zero(rows[0].ETA)}, nil
}

type attemptRecord struct {
	ID              string
	Number          int
	Kind            lifecycle.Kind
	OpenedAt        time.Time
	LaunchedAt      *time.Time
	LaunchTrouble   *lifecycle.Trouble
	ClaimedAt       *time.Time
	LeaseUntil      *time.Time
	Phase           lifecycle.Phase
	ProgressPercent int
	ProgressStep    string
	Recorded        bool
	StopAsked       bool
	ClosedAt        *time.Time
	Outcome         *lifecycle.Outcome
	Reason          string
	Message         string
	Whose           string
	Next            string
	Retryable       bool
	ToolExitedAt    *time.Time
	ExpectedSeconds *int
	LateSeconds     *int
	WorkersWanted   *int
	WorkersSeen     *int
	Request         int
	AddonsSeen      *int
	AsleepSeen      *bool
}

func (r attemptRecord) attempt() *lifecycle.Attempt {
	a := &lifecycle.Attempt{
		Number: r.Number, Kind: r.Kind, OpenedAt: r.OpenedAt, ClaimedAt: db.Zero(r.ClaimedAt), LeaseUntil: db.Zero(r.LeaseUntil),
		Phase: r.Phase, Progress: lifecycle.Progress{Percent: r.ProgressPercent, Step: r.ProgressStep},
		Request: r.Request, Recorded: r.Recorded, StopAsked: r.StopAsked,
		ClosedAt: db.Zero(r.ClosedAt), Reason: r.Reason, Message: r.Message, Whose: r.Whose, Next: r.Next, Retryable: r.Retryable,
		ToolExitedAt: db.Zero(r.ToolExitedAt), WorkersSeen: r.WorkersSeen, AddonsSeen: r.AddonsSeen, AsleepSeen: r.AsleepSeen,
	}
	a.LaunchedAt = db.Zero(r.LaunchedAt)
	if r.LaunchTrouble != nil {
		a.Refused = *r.LaunchTrouble
	}
	if r.WorkersWanted != nil {
		a.WorkersWanted = *r.WorkersWanted
	}
	if r.Outcome != nil {
		a.Outcome = *r.Outcome
	}
	return a
}

// attemptsIn reads the open attempt and the newest closed one, with their verification passes, and those before it that no server accounted for.
func attemptsIn(ctx context.Context, tx pgx.Tx, cluster string, now time.Time) (open, last *lifecycle.Attempt, missed []lifecycle.Attempt, err error) {
	records, err := db.All[attemptRecord](ctx, tx, `
		SELECT a.id, a.number, a.kind, a.opened_at, a.launched_at, a.launch_trouble, a.claimed_at, a.lease_until, a.phase,
			a.progress_percent, a.progress_step, a.recorded_at IS NOT NULL AS recorded, a.stop_asked,
			a.closed_at, a.outcome, a.reason, a.message, a.whose, a.next, a.retryable, a.tool_exited_at, a.expected_seconds, a.late_seconds,
			a.request, a.workers_wanted, a.workers_seen, a.addons_seen, a.asleep_seen
		FROM attempts a JOIN clusters c ON c.id = a.cluster_id
		WHERE a.cluster_id = $1 AND (a.closed_at IS NULL OR a.number = (SELECT max(l.number) FROM attempts l WHERE l.cluster_id = $1 AND l.closed_at IS NOT NULL)
			OR a.kind NOT IN ('create', 'destroy') AND a.number > coalesce((c.work #>> ARRAY[a.kind, 'seen'])::int, 0))
		ORDER BY a.number`, cluster)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, r := range records {
		a := r.attempt()
		if r.Kind == lifecycle.Destroy {
			if a.Passes, err = passesIn(ctx, tx, r.ID); err != nil {
				return nil, nil, nil, err
			}
		}
		if r.ClosedAt == nil {
			open = a
			open.Progress.ETA = clusters.ExpectedEnd(r.OpenedAt, r.ExpectedSeconds, now)
			open.Progress.Late = clusters.ExpectedEnd(r.OpenedAt, r.LateSeconds, now)
			continue
		}
		if last != nil {
			missed = append(missed, *last)
		}
		last = a
	}
	return open, last, missed, nil
}

func passesIn(ctx context.Context, tx pgx.Tx, attempt string) ([]lifecycle.Pass, error) {
	return db.All[lifecycle.Pass](ctx, tx, `
		SELECT received_at AS at, clean, identities, blockers AS leftovers FROM verifications WHERE attempt_id = $1 ORDER BY number`, attempt)
}
