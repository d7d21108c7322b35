package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// UseState is where a use stands.
type UseState string

// The states.
const (
	UseWaiting  UseState = "waiting"
	UseGranted  UseState = "granted"
	UseReleased UseState = "released"
)

// Use is a run's exclusive turn on a cluster, or its position in the queue for one.
type Use struct {
	ID, Cluster, RunID    string
	Attempt               int
	Job                   string // check_run_id; empty: it lasts as long as the attempt
	Principal             string
	AskedAt               time.Time
	GrantedAt, ReleasedAt *time.Time
	Why                   string // it was released
	RunName, RunURL, Repo string
	Scope, Key            string // of the run
}

// State returns where the use stands.
func (u Use) State() UseState {
	switch {
	case u.ReleasedAt != nil:
		return UseReleased
	case u.GrantedAt != nil:
		return UseGranted
	}
	return UseWaiting
}

const (
	useColumns = `u.id, u.cluster_id AS cluster, u.run_id, u.attempt, u.job, u.principal, u.asked_at, u.granted_at, u.released_at, u.why,
		r.name AS run_name, r.url AS run_url, r.repo, r.scope, r.key`
	useSources = ` FROM uses u JOIN runs r ON r.id = u.run_id `
	// byTurn is the order in which uses of a cluster are granted.
	byTurn = `u.granted_at IS NULL, u.asked_at, u.id`
)

// AskUse asks for a run's turn on a cluster, and grants it if nobody is ahead. The same attempt and job have one use at a time; fresh
// is false if they had it. A Refusal: the run is over. ErrConflict: the cluster is going away.
func (s *Store) AskUse(ctx context.Context, cluster string, ref Ref, job string, d clusters.Origin) (use Use, fresh bool, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		run, err := enter(ctx, c, ref, cluster)
		if err != nil {
			return err
		}
		cur, err := clusters.Lock(ctx, c, cluster)
		if err != nil {
			return err
		}
		if cur.Desired == lifecycle.Absent {
			return fmt.Errorf("%w: the cluster is going: %s", db.ErrConflict, cur.DesiredWhy)
		}
		if err := clusters.Active(ctx, c, cur, lifecycle.ActivityTurn); err != nil {
			return err
		}
		if err := takeHandedOver(ctx, c, run, ref.Attempt, cluster, d.Actor); err != nil {
			return err
		}
		use, fresh, err = askUse(ctx, c, run, cluster, ref.Attempt, job, d)
		return err
	})
	if err != nil {
		return Use{}, false, fmt.Errorf("ask for a turn on %s: %w", cluster, err)
	}
	return use, fresh, nil
}

func askUse(ctx context.Context, c *db.Tx, run Run, cluster string, attempt int, job string, d clusters.Origin) (use Use, fresh bool, err error) {
	known, err := db.All[Use](ctx, c, `SELECT `+useColumns+useSources+`
		WHERE u.cluster_id = $1 AND u.run_id = $2 AND u.attempt = $3 AND u.job = $4 AND u.released_at IS NULL`, cluster, run.ID, attempt, job)
	if err != nil || len(known) > 0 {
		return append(known, Use{})[0], false, err
	}
	id := db.NewID("use")
	_, err = c.Exec(ctx, `INSERT INTO uses (id, cluster_id, run_id, attempt, job, principal, asked_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		id, cluster, run.ID, attempt, job, d.Actor, c.Now)
	if err != nil {
		return Use{}, false, fmt.Errorf("write the use: %w", err)
	}
	if err := clusters.RecordAction(c, clusters.Origin{Actor: d.Actor, Source: d.Source, Verdict: d.Verdict, Why: "for " + turnOf(run.URL, run.Name, attempt)}, "use_asked", cluster, clusters.Action{Note: id}); err != nil {
		return Use{}, false, err
	}
	if err := grant(ctx, c, cluster); err != nil {
		return Use{}, false, err
	}
	use, err = db.One[Use](ctx, c, `SELECT `+useColumns+useSources+`WHERE u.id = $1`, id)
	return use, true, err
}

func turnOf(url, name string, attempt int) string {
	return fmt.Sprintf("attempt %d of %s", attempt, nameRun(Run{URL: url, Name: name}))
}

// grant gives the turn on a locked cluster to the first in its queue, unless somebody has it.
func grant(ctx context.Context, c *db.Tx, cluster string) error {
	granted, err := db.All[Use](ctx, c, `
		WITH next AS (
			UPDATE uses SET granted_at = @now WHERE id = (
				SELECT u.id FROM uses u WHERE u.cluster_id = @cluster AND u.released_at IS NULL AND u.granted_at IS NULL ORDER BY `+byTurn+` LIMIT 1)
				AND NOT EXISTS (SELECT FROM uses g WHERE g.cluster_id = @cluster AND g.granted_at IS NOT NULL AND g.released_at IS NULL)
			RETURNING *)
		SELECT `+useColumns+` FROM next u JOIN runs r ON r.id = u.run_id`, pgx.NamedArgs{"cluster": cluster, "now": c.Now})
	if err != nil {
		return fmt.Errorf("grant the next turn on %s: %w", cluster, err)
	}
	for _, u := range granted {
		why := "to " + turnOf(u.RunURL, u.RunName, u.Attempt)
		if err := clusters.RecordAction(c, clusters.Origin{Actor: db.Lifecycle, Why: why}, "use_granted", cluster, clusters.Action{Note: u.ID}); err != nil {
			return err
		}
	}
	return nil
}

// release ends uses of a locked cluster, with the access that was for them, and grants the next one.
func release(ctx context.Context, c *db.Tx, cluster string, uses []string, d clusters.Origin) error {
	released, err := db.All[Use](ctx, c, `
		WITH over AS (UPDATE uses SET released_at = @now, why = @why WHERE id = ANY (@uses) AND cluster_id = @cluster AND released_at IS NULL RETURNING *)
		SELECT `+useColumns+` FROM over u JOIN runs r ON r.id = u.run_id ORDER BY u.id`,
		pgx.NamedArgs{"uses": uses, "cluster": cluster, "now": c.Now, "why": d.Reason()})
	if err != nil {
		return fmt.Errorf("release the turn on %s: %w", cluster, err)
	}
	for _, u := range released {
		if err := clusters.RecordAction(c, d, "use_released", cluster, clusters.Action{Note: u.ID}); err != nil {
			return err
		}
		if err := revokeUse(ctx, c, u); err != nil {
			return err
		}
	}
	return grant(ctx, c, cluster)
}

// Release ends a use, and grants the cluster's next one. A use that ended before stays as it is.
func (s *Store) Release(ctx context.Context, cluster, use string, d clusters.Origin) (Use, error) {
	var out Use
	_, err := clusters.ChangeOnce(ctx, s.db, cluster, d, func(tx *db.Tx, _ usage.Held, _ *clusters.Outcome) (err error) {
		c := tx
		if err := release(ctx, c, cluster, []string{use}, d); err != nil {
			return err
		}
		out, err = db.One[Use](ctx, c, `SELECT `+useColumns+useSources+`WHERE u.id = $1 AND u.cluster_id = $2`, use, cluster)
		return err
	})
	if err != nil {
		return Use{}, fmt.Errorf("release %s: %w", use, err)
	}
	return out, nil
}

// openUse names an unreleased use.
type openUse struct{ ID, Cluster string }

// releaseEach releases uses, cluster by cluster in the order in which they are locked.
func releaseEach(ctx context.Context, c *db.Tx, open []openUse, why string) error {
	for i, u := range open {
		if i > 0 && open[i-1].Cluster == u.Cluster {
			continue
		}
		var uses []string
		for _, o := range open[i:] {
			if o.Cluster == u.Cluster {
				uses = append(uses, o.ID)
			}
		}
		if _, err := clusters.Lock(ctx, c, u.Cluster); err != nil {
			return err
		}
		if err := release(ctx, c, u.Cluster, uses, clusters.Origin{Actor: db.Lifecycle, Why: why}); err != nil {
			return err
		}
	}
	return nil
}

// releaseOver releases the uses of attempts of a locked run that are over.
func releaseOver(ctx context.Context, c *db.Tx, run Run) error {
	open, err := db.All[openUse](ctx, c, `
		SELECT id, cluster_id AS cluster FROM uses WHERE run_id = $1 AND released_at IS NULL AND (attempt < $2 OR attempt = $2 AND $3)
		ORDER BY cluster_id, id`, run.ID, run.Attempt, run.hasEnded()) // another run may get the turn
	if err != nil {
		return fmt.Errorf("list the turns of %s: %w", run.ID, err)
	}
	return releaseEach(ctx, c, open, "its run finished")
}

// ExpireUses releases turns that were granted longer than most ago, and returns how many.
func (s *Store) ExpireUses(ctx context.Context, most time.Duration) (n int, err error) {
	err = s.db.Write(ctx, func(c *db.Tx) error {
		open, err := db.All[openUse](ctx, c, `
			SELECT id, cluster_id AS cluster FROM uses WHERE released_at IS NULL AND granted_at <= $1 ORDER BY cluster_id, id`, c.Now.Add(-most))
		if err != nil {
			return err
		}
		n = len(open)
		return releaseEach(ctx, c, open, "its turn lasted longer than limits.use allows")
	})
	if err != nil {
		return 0, fmt.Errorf("release turns that last too long: %w", err)
	}
	return n, nil
}

// Uses returns the uses of a cluster that are not released, in the order of their turns, then the newest released ones.
func (s *Store) Uses(ctx context.Context, cluster string) ([]Use, error) {
	list, err := db.All[Use](ctx, s.db.Pool(), `
		(SELECT `+useColumns+useSources+`WHERE u.cluster_id = $1 AND u.released_at IS NULL ORDER BY `+byTurn+`)
		UNION ALL
		(SELECT `+useColumns+useSources+`WHERE u.cluster_id = $1 AND u.released_at IS NOT NULL ORDER BY u.released_at DESC, u.id DESC LIMIT 50)`, cluster)
	if err != nil {
		return nil, fmt.Errorf("list the turns on %s: %w", cluster, err)
	}
	return list, nil
}
