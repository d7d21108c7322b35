package runs

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// EffectReview tells the jobs that wait for a cluster how it stands, or decides about them. Its content is the wait's id.
const EffectReview clusters.EffectKind = "review"

// EnvironmentPrefix begins the slot of a cluster for which jobs of its run wait. The environment is named after its profile.
const EnvironmentPrefix = "environment/"

// WaitAsk says that jobs of a run wait for an environment.
type WaitAsk struct {
	Ref
	Installation int64
	Environment  string // its name on the platform, e.g. ocp/aws-minimal-test
	Event        string // identifies the request: the same one again is answered once
}

// AskWait writes down that jobs of a run wait for a cluster, or why they get none. Several jobs of an attempt wait for an environment
// together, and a job may wait after the others were let through: then all is decided anew.
func AskWait(ctx context.Context, tx *db.Tx, a WaitAsk, cluster, refusal string) error {
	c := tx
	args, err := writeDown(ctx, c, a.Ref)
	if err != nil {
		return err
	}
	run, err := db.One[Run](ctx, c, byToken, args)
	if err != nil {
		return fmt.Errorf("look for the run of a wait: %w", err)
	}
	if cluster != "" {
		cur, err := clusters.Lock(ctx, c, cluster) // what becomes of it is told before this, or because of this
		if err != nil {
			return err
		}
		if err := clusters.Active(ctx, c, cur, lifecycle.ActivityWait); err != nil {
			return err
		}
	}
	id, err := db.One[struct{ ID string }](ctx, c, `
		INSERT INTO waits AS w (id, run_id, attempt, environment, cluster_id, refusal, asked_at)
		VALUES (@id, @run, @attempt, @environment, nullif(@cluster, ''), @refusal, @now)
		ON CONFLICT (run_id, attempt, environment) DO UPDATE SET cluster_id = excluded.cluster_id, refusal = excluded.refusal,
			asked_at = CASE WHEN w.cluster_id = excluded.cluster_id THEN w.asked_at ELSE @now END, said = CASE WHEN w.cluster_id = excluded.cluster_id THEN w.said ELSE '' END, asks = w.asks + 1,
			decision = '', decided_at = NULL, problem = ''
		RETURNING w.id`,
		pgx.NamedArgs{"id": db.NewID("wai"), "run": run.ID, "attempt": a.Attempt, "environment": a.Environment, "cluster": cluster, "refusal": refusal, "now": c.Now})
	if err != nil {
		return fmt.Errorf("write the wait: %w", err)
	}
	return clusters.SaveEffects(ctx, c, []clusters.Effect{reviewEffect(id.ID, "asked:"+a.Event, a.Installation, run.Repo)})
}

// Refuse writes down why the jobs that wait for an environment get no cluster, although policy was not asked.
func (s *Store) Refuse(ctx context.Context, a WaitAsk, refusal string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error { return AskWait(ctx, c, a, "", refusal) })
	if err != nil {
		return fmt.Errorf("refuse %s to run %s of %s: %w", a.Environment, a.Key, a.Scope, err)
	}
	return nil
}

func reviewEffect(wait, why string, installation int64, repo string) clusters.Effect {
	return clusters.Effect{Cause: "review:" + wait + ":" + why, Kind: EffectReview, Installation: installation, Repo: repo, Content: wait}
}

// TellWaits has the jobs that wait for a locked cluster told what has become of it. seen is the number of the attempts that it had.
func TellWaits(ctx context.Context, tx *db.Tx, cluster string, state lifecycle.WaitState, seen int) error {
	list, err := db.All[struct {
		ID           string
		Installation int64
		Repo         string
	}](ctx, tx, `SELECT w.id, r.installation, r.repo FROM waits w JOIN runs r ON r.id = w.run_id WHERE w.cluster_id = $1 AND w.decision = '' ORDER BY w.id`, cluster)
	if err != nil {
		return fmt.Errorf("list who waits for %s: %w", cluster, err)
	}
	var effects []clusters.Effect
	for _, w := range list {
		effects = append(effects, reviewEffect(w.ID, fmt.Sprintf("%s:%s:%d", cluster, state, seen), w.Installation, w.Repo))
	}
	return clusters.SaveEffects(ctx, tx, effects)
}

// Wait is what is known of jobs that wait for an environment.
type Wait struct {
	ID, Environment string
	Cluster         string // empty: there is none, and Refusal says why
	Refusal         string
	Attempt, Asks   int                 // Asks is how often jobs began to wait
	Said            lifecycle.WaitState // the progress that was posted last
	Notes           int
	Decision        lifecycle.WaitDecision // empty: they wait
	RunID, RunKey   string
	Over            bool // that attempt of the run finished, or was replaced
}

// Wait returns one wait. ErrNotFound: there is none of that id.
func (s *Store) Wait(ctx context.Context, id string) (Wait, error) {
	w, err := db.One[Wait](ctx, s.db.Pool(), `
		SELECT w.id, w.environment, coalesce(w.cluster_id, '') AS cluster, w.refusal, w.attempt, w.asks, w.said, w.notes, w.decision, r.id AS run_id, r.key AS run_key,
			w.attempt < r.attempt OR w.attempt = r.attempt AND r.state = 'finished' AND r.confirmed AS over
		FROM waits w JOIN runs r ON r.id = w.run_id WHERE w.id = $1`, id)
	if err != nil {
		return Wait{}, fmt.Errorf("read wait %s: %w", id, err)
	}
	return w, nil
}

// Noting records that a progress is about to be posted, so that no crash makes the posts more than are counted.
func (s *Store) Noting(ctx context.Context, wait string, state lifecycle.WaitState) error {
	if _, err := s.db.Pool().Exec(ctx, `UPDATE waits SET said = $2, notes = notes + 1 WHERE id = $1`, wait, state); err != nil {
		return fmt.Errorf("count a note of wait %s: %w", wait, err)
	}
	return nil
}

// NotNoted takes back what Noting recorded: nothing was posted. said is what was posted before.
func (s *Store) NotNoted(ctx context.Context, wait string, said lifecycle.WaitState) error {
	if _, err := s.db.Pool().Exec(ctx, `UPDATE waits SET said = $2, notes = greatest(notes - 1, 0) WHERE id = $1`, wait, said); err != nil {
		return fmt.Errorf("uncount a note of wait %s: %w", wait, err)
	}
	return nil
}

// Decided records how a wait ended, as it was read: a job that began to wait since then is decided about anew. The cluster's timeline has it.
func (s *Store) Decided(ctx context.Context, w Wait, decision lifecycle.WaitDecision, why string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		tag, err := c.Exec(ctx, `UPDATE waits SET decision = $2, decided_at = $3, problem = '' WHERE id = $1 AND decision = '' AND asks = $4`, w.ID, decision, c.Now, w.Asks)
		if err != nil || tag.RowsAffected() == 0 || w.Cluster == "" {
			return err
		}
		return clusters.RecordAction(c, clusters.Origin{Actor: db.Lifecycle, Why: why}, "wait_"+string(decision), w.Cluster, clusters.Action{Note: w.Environment})
	})
	if err != nil {
		return fmt.Errorf("record the end of wait %s: %w", w.ID, err)
	}
	return nil
}

// Untold records why GitHub could not be told about a wait. The first such problem stands in the cluster's timeline.
func (s *Store) Untold(ctx context.Context, w Wait, problem string) error {
	err := s.db.Write(ctx, func(c *db.Tx) error {
		tag, err := c.Exec(ctx, `UPDATE waits SET problem = $2 WHERE id = $1 AND problem <> $2`, w.ID, problem)
		if err != nil || tag.RowsAffected() == 0 || w.Cluster == "" {
			return err
		}
		return clusters.RecordAction(c, clusters.Origin{Actor: db.Lifecycle, Why: problem}, "wait_untold", w.Cluster, clusters.Action{Note: w.Environment})
	})
	if err != nil {
		return fmt.Errorf("record the problem of wait %s: %w", w.ID, err)
	}
	return nil
}
