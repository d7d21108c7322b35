package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// EffectSignal tells a pipeline what became of a cluster. Its content is the signal's id.
const EffectSignal clusters.EffectKind = "signal"

// SignalAsk is a run's request to be told when a cluster is ready or failed.
type SignalAsk struct {
	Ref
	Kind lifecycle.SignalKind
}

// AskSignal writes the request of a run about a cluster. An attempt of a run has one signal of a cluster: asked for again, it is told again.
func AskSignal(ctx context.Context, tx *db.Tx, cluster string, a SignalAsk) error {
	c := tx
	args, err := writeDown(ctx, c, a.Ref)
	if err != nil {
		return err
	}
	run, err := db.One[Run](ctx, c, byToken, args)
	if err != nil {
		return fmt.Errorf("look for the run of a signal: %w", err)
	}
	if _, err := clusters.Lock(ctx, c, cluster); err != nil { // what becomes of it is told before this, or because of this
		return err
	}
	id, err := db.One[struct{ ID string }](ctx, c, `
		INSERT INTO signals AS g (id, cluster_id, run_id, attempt, kind, asked_at) VALUES (@id, @cluster, @run, @attempt, @kind, @now)
		ON CONFLICT (cluster_id, run_id, attempt) DO UPDATE SET kind = @kind, asked_at = @now, told = '', told_at = NULL, problem = ''
		RETURNING g.id`,
		pgx.NamedArgs{"id": db.NewID("sig"), "cluster": cluster, "run": run.ID, "attempt": a.Attempt, "kind": a.Kind, "now": c.Now})
	if err != nil {
		return fmt.Errorf("write the signal: %w", err)
	}
	return clusters.SaveEffects(ctx, c, []clusters.Effect{signalEffect(id.ID, fmt.Sprintf("asked:%d", c.Now.UnixMicro()), run.Installation, run.Repo)})
}

// AskSignal is AskSignal for a cluster that is there.
func (s *Store) AskSignal(ctx context.Context, cluster string, a SignalAsk) error {
	err := s.db.Write(ctx, func(c *db.Tx) error { return AskSignal(ctx, c, cluster, a) })
	if err != nil {
		return fmt.Errorf("ask for a signal of %s: %w", cluster, err)
	}
	return nil
}

func signalEffect(signal, why string, installation int64, repo string) clusters.Effect {
	return clusters.Effect{Cause: "signal:" + signal + ":" + why, Kind: EffectSignal, Installation: installation, Repo: repo, Content: signal}
}

// TellSignals has every signal of a locked cluster told that it is in another state.
func TellSignals(ctx context.Context, tx *db.Tx, cluster string, state lifecycle.SignalState) error {
	list, err := db.All[struct {
		ID           string
		Installation int64
		Repo         string
	}](ctx, tx, `SELECT g.id, r.installation, r.repo FROM signals g JOIN runs r ON r.id = g.run_id WHERE g.cluster_id = $1 ORDER BY g.id`, cluster)
	if err != nil {
		return fmt.Errorf("list the signals of %s: %w", cluster, err)
	}
	var effects []clusters.Effect
	for _, g := range list {
		effects = append(effects, signalEffect(g.ID, string(state), g.Installation, g.Repo))
	}
	return clusters.SaveEffects(ctx, tx, effects)
}

// Signal is a run's request to be told what becomes of a cluster.
type Signal struct {
	ID, Cluster          string
	Kind                 lifecycle.SignalKind
	Attempt              int
	AskedAt              time.Time
	Told                 lifecycle.SignalState // empty: nothing yet
	Problem              string
	RunID, RunKey, Event string
	Claimed, Head, URL   string // Claimed is the commit that the run's token named; Head the one that the platform shows the run at, empty: not known yet
}

// Signal returns one signal. ErrNotFound: there is none of that id.
func (s *Store) Signal(ctx context.Context, id string) (Signal, error) {
	g, err := db.One[Signal](ctx, s.db.Pool(), `
		SELECT g.id, g.cluster_id AS cluster, g.kind, g.attempt, g.asked_at, g.told, g.problem, r.id AS run_id, r.key AS run_key, r.event,
			r.head AS claimed, r.head_sha AS head, r.url
		FROM signals g JOIN runs r ON r.id = g.run_id WHERE g.id = $1`, id)
	if err != nil {
		return Signal{}, fmt.Errorf("read signal %s: %w", id, err)
	}
	return g, nil
}

// Told records what a signal told, unless it was asked for anew since it was read, and settles what follows for the cluster of a run that is
// over.
func (s *Store) Told(ctx context.Context, g Signal, state lifecycle.SignalState) error {
	_, err := s.change(ctx, g.RunID, func(c *db.Tx, run Run) (Run, error) {
		_, err := c.Exec(ctx, `UPDATE signals SET told = $2, told_at = $3, problem = '' WHERE id = $1 AND asked_at = $4`, g.ID, state, c.Now, g.AskedAt)
		return run, err
	})
	if err != nil {
		return fmt.Errorf("record what signal %s told: %w", g.ID, err)
	}
	return nil
}

// NotTold records why a signal cannot be told, and settles what follows. The first such problem stands in the cluster's timeline.
func (s *Store) NotTold(ctx context.Context, g Signal, problem string) error {
	_, err := s.change(ctx, g.RunID, func(c *db.Tx, run Run) (Run, error) {
		tag, err := c.Exec(ctx, `UPDATE signals SET problem = $2 WHERE id = $1 AND problem <> $2 AND asked_at = $3`, g.ID, problem, g.AskedAt)
		if err != nil || tag.RowsAffected() == 0 {
			return run, err
		}
		return run, clusters.RecordAction(c, clusters.Origin{Actor: db.Lifecycle, Why: problem}, "signal_refused", g.Cluster, clusters.Action{Note: g.ID})
	})
	if err != nil {
		return fmt.Errorf("record the problem of signal %s: %w", g.ID, err)
	}
	return nil
}

// SignalledCommits returns the commits of the runs of a repository that wait for a signal of the cluster or were sent one, the newest
// first, as far as they are known.
func (s *Store) SignalledCommits(ctx context.Context, cluster, scope string) ([]string, error) {
	list, err := db.All[struct{ HeadSHA string }](ctx, s.db.Pool(), `
		SELECT r.head_sha FROM signals g JOIN runs r ON r.id = g.run_id
		WHERE g.cluster_id = $1 AND r.scope = $2 AND r.head_sha <> '' ORDER BY g.asked_at DESC, g.id DESC`, cluster, scope)
	if err != nil {
		return nil, fmt.Errorf("read the signals of %s: %w", cluster, err)
	}
	var commits []string
	for _, one := range list {
		commits = append(commits, one.HeadSHA)
	}
	return commits, nil
}

// takeHandedOver binds a locked cluster to the run that its signal started, if it is ready or the run that asked for it is over, and that
// run has no turn on it. Both are of one repository.
func takeHandedOver(ctx context.Context, c *db.Tx, run Run, attempt int, cluster, principal string) error {
	tag, err := c.Exec(ctx, `
		UPDATE run_clusters b SET run_id = @run, attempt = @attempt, slot = 'signal of ' || b.cluster_id, bound_at = @now
		FROM runs o WHERE o.id = b.run_id AND b.cluster_id = @cluster AND b.run_id <> @run AND b.lifetime = 'run'
			AND o.platform = @platform AND o.scope = @scope
			AND (o.state = 'finished' OR (SELECT c.status = 'READY' FROM clusters c WHERE c.id = b.cluster_id))
			AND NOT EXISTS (SELECT FROM uses u WHERE u.cluster_id = b.cluster_id AND u.run_id = b.run_id AND u.released_at IS NULL)
			AND EXISTS (SELECT FROM signals g WHERE g.cluster_id = b.cluster_id AND g.run_id = b.run_id)`,
		pgx.NamedArgs{"run": run.ID, "attempt": attempt, "cluster": cluster, "now": c.Now, "platform": run.Platform, "scope": run.Scope})
	if err != nil {
		return fmt.Errorf("take over %s: %w", cluster, err)
	}
	if tag.RowsAffected() == 0 {
		return nil
	}
	if err := c.Record(ctx, principal, "run_took_over", cluster, db.Move{Why: fmt.Sprintf("attempt %d of %s, which its signal started", attempt, nameRun(run))}); err != nil {
		return err
	}
	return settle(ctx, c, run)
}
