package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// Ask is a run's request for a cluster, and how the cluster is to belong to the run.
type Ask struct {
	Ref
	Slot     string
	Lifetime lifecycle.Lifetime // run or job
	Job      string             // check_run_id; empty: the token named none
	Beside   string             // another slot whose cluster, which ends with the run, is reused if this one has none; empty: none

	// Reuse judges whether the wanted cluster of the slot can be handed to the requester; its error is returned. Nil: a new cluster is
	// asked for, whatever the slot has.
	Reuse func(clusters.Row) error
}

// The reasons for which a run gets no cluster and no turn. Each comes in a Refusal.
var (
	ErrReplaced  = errors.New("a newer attempt of the run replaced this one")
	ErrOver      = errors.New("the run finished")
	ErrSlotTaken = errors.New("the run has a cluster in this slot")
)

// Refusal is an error about a run: one of the above, and what it is about.
type Refusal struct {
	Run     Run
	Cluster string // name of the slot's cluster, of ErrSlotTaken
	Cause   error
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("run %s, attempt %d: %s", r.Run.ID, r.Run.Attempt, r.Cause)
}

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Cause }

// enter locks the run of a request whose token was verified. It is refused unless its attempt is the newest and goes on.
// also is a cluster that is locked too.
func enter(ctx context.Context, c *db.Tx, ref Ref, also string) (Run, error) {
	run, older, err := lock(ctx, c, ref, also)
	switch {
	case err != nil:
		return Run{}, err
	case older:
		return Run{}, &Refusal{Run: run, Cause: ErrReplaced}
	case run.Over(ref.Attempt):
		return Run{}, &Refusal{Run: run, Cause: ErrOver}
	}
	return run, nil
}

// Binding is where a new cluster of a run belongs.
type Binding struct {
	Run      Run
	Replaces string // id of the wanted cluster of an older attempt in the slot; empty: there is none

	ask Ask
}

// Enter locks the run of a request for a cluster and looks at its slot. It returns the slot's cluster if that is reused, and then it
// is the requester's; otherwise the place of a new one. A Refusal: the run gets no cluster.
func Enter(ctx context.Context, tx *db.Tx, a Ask, principal string) (reused *clusters.Row, place *Binding, err error) {
	c := tx
	run, err := enter(ctx, c, a.Ref, "")
	if err != nil {
		return nil, nil, err
	}
	found, err := db.All[clusters.RowRecord](ctx, c, `SELECT `+clusters.RowColumns+clusters.OfMany+clusters.RowSources+`
		WHERE rc.run_id = @run AND (rc.slot = @slot OR @reuse AND rc.slot = nullif(@beside, '')) AND rc.newest AND c.desired = 'present'
		ORDER BY rc.slot = @slot DESC`, pgx.NamedArgs{"run": run.ID, "slot": a.Slot, "beside": a.Beside, "reuse": a.Reuse != nil})
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("look for the cluster of the slot: %w", err)
	case len(found) == 0:
		return nil, &Binding{Run: run, ask: a}, nil
	}
	row := found[0].Row()
	switch {
	case a.Reuse != nil:
		if err := a.Reuse(row); err != nil {
			return nil, nil, err
		}
		if row.Run.Slot != a.Slot { // other jobs of the run use it too: it ends with the run, whatever this one asks for
			a.Lifetime, a.Job = lifecycle.LifetimeRun, ""
		}
		row, err = handOver(ctx, c, run, row, a, principal)
		return &row, nil, err
	case row.Run.Attempt == a.Attempt:
		return nil, nil, &Refusal{Run: run, Cluster: row.Name, Cause: ErrSlotTaken}
	}
	return nil, &Binding{Run: run, Replaces: row.ID, ask: a}, nil
}

// handOver hands the slot's cluster to the attempt, and to the job if it lasts as long as that.
func handOver(ctx context.Context, c *db.Tx, run Run, row clusters.Row, a Ask, principal string) (clusters.Row, error) {
	_, err := c.Exec(ctx, `
		UPDATE run_clusters SET attempt = @attempt, lifetime = @lifetime, job = @job, job_conclusion = '', job_finished_at = NULL, job_confirmed = true, bound_at = @now
		WHERE cluster_id = @cluster`,
		pgx.NamedArgs{"cluster": row.ID, "attempt": a.Attempt, "lifetime": a.Lifetime, "job": a.Job, "now": c.Now})
	if err != nil {
		return clusters.Row{}, fmt.Errorf("hand over %s: %w", row.ID, err)
	}
	if err := settle(ctx, c, run); err != nil {
		return clusters.Row{}, err
	}
	a.Slot = row.Run.Slot
	if err := c.Record(ctx, principal, "run_took_over", row.ID, db.Move{Why: describeBinding(run, a)}); err != nil {
		return clusters.Row{}, err
	}
	now, err := db.One[clusters.RowRecord](ctx, c, `SELECT `+clusters.RowColumns+clusters.OfMany+clusters.RowSources+`WHERE c.id = $1`, row.ID)
	if err != nil {
		return clusters.Row{}, fmt.Errorf("read %s: %w", row.ID, err)
	}
	if now.Lifecycle.Cluster.Desired == lifecycle.Absent { // its end came while the lock was waited for
		return clusters.Row{}, fmt.Errorf("%w: %s is going", db.ErrStale, row.ID)
	}
	return now.Row(), nil
}

// LifecycleRun is the run of a cluster that is bound to its place.
func (p *Binding) LifecycleRun() lifecycle.Run {
	r := p.Run
	return lifecycle.Run{
		ID: r.ID, Platform: r.Platform, Key: lifecycle.ShownKey(r.Key), Repo: r.Repo, Name: r.Name, URL: r.URL, Attempt: p.ask.Attempt, Slot: p.ask.Slot,
		Lifetime: p.ask.Lifetime, State: r.State, Conclusion: r.Conclusion, Unwatched: r.Unwatched,
	}
}

// Queue binds a cluster that is inserted by the same batch to its place.
func (p *Binding) Queue(tx *db.Tx, b *db.Batch, cluster string) {
	b.Do("leave the slot", `UPDATE run_clusters SET newest = false WHERE run_id = $1 AND slot = $2 AND newest`, p.Run.ID, p.ask.Slot)
	b.Do("bind the cluster to its run", `
		INSERT INTO run_clusters (cluster_id, run_id, attempt, slot, lifetime, job, bound_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		cluster, p.Run.ID, p.ask.Attempt, p.ask.Slot, p.ask.Lifetime, p.ask.Job, tx.Now)
}

// Record writes the audit line of a cluster that was bound to its place.
func (p *Binding) Record(ctx context.Context, tx *db.Tx, principal, cluster string) error {
	return tx.Record(ctx, principal, "run_bound", cluster, db.Move{Why: describeBinding(p.Run, p.ask)})
}

// describeBinding names what a cluster is bound to, for the audit trail.
func describeBinding(run Run, a Ask) string {
	text := fmt.Sprintf("attempt %d of %s", a.Attempt, nameRun(run))
	if a.Lifetime == lifecycle.LifetimeJob {
		text = fmt.Sprintf("job %s in %s", a.Job, text)
	}
	if a.Slot != "" {
		text += fmt.Sprintf(", slot %q", a.Slot)
	}
	return text
}

// nameRun is a run's address, else its name.
func nameRun(run Run) string {
	if run.URL != "" {
		return run.URL
	}
	return run.Name
}
