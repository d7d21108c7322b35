package runs

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

// EnterFor locks the run of a request about a cluster, and the cluster, and returns what of the run asks, and whether nobody learns when the run
// ends. A Refusal: the run is over, so nothing that it asks for now would end with it.
func EnterFor(ctx context.Context, tx *db.Tx, ref Ref, job, cluster string) (by access.OfRun, unwatched bool, err error) {
	run, err := enter(ctx, tx, ref, cluster)
	if err != nil {
		return access.OfRun{}, false, err
	}
	return access.OfRun{RunID: run.ID, RunAttempt: ref.Attempt, RunJob: job}, run.Unwatched != "", nil
}

// Asker is what of the run asks for a cluster that is bound to its place.
func (p *Binding) Asker() access.OfRun {
	return access.OfRun{RunID: p.Run.ID, RunAttempt: p.ask.Attempt, RunJob: p.ask.Job}
}

// openAccess holds for an access a that may be valid at the time @now.
const openAccess = `a.revoked_at IS NULL AND a.removed_at IS NULL AND (a.expires_at IS NULL OR a.expires_at > @now)`

// revokeOver revokes the access that attempts of a locked run have which are over.
func revokeOver(ctx context.Context, c *db.Tx, run Run) error {
	return revokeEach(ctx, c, run.ID, `(a.run_attempt < @attempt OR a.run_attempt = @attempt AND @finished)`,
		pgx.NamedArgs{"attempt": run.Attempt, "finished": run.hasEnded()}, "its run finished")
}

// revokeJob revokes the access that a job has which is over.
func revokeJob(ctx context.Context, c *db.Tx, run, job string) error {
	return revokeEach(ctx, c, run, `a.run_job = @job`, pgx.NamedArgs{"job": job}, "its job finished")
}

// revokeUse revokes the access to a locked cluster that belongs to a turn which ended.
func revokeUse(ctx context.Context, c *db.Tx, u Use) error {
	_, err := access.Revoke(ctx, c, u.Cluster, `a.run_id = @run AND a.run_attempt = @attempt AND a.run_job = @job`,
		pgx.NamedArgs{"run": u.RunID, "attempt": u.Attempt, "job": u.Job}, clusters.Origin{Actor: db.Lifecycle, Why: "its turn on the cluster ended"})
	return err
}

// revokeEach revokes the access of a locked run that a condition on access a selects, cluster by cluster in the order in which they are
// locked.
func revokeEach(ctx context.Context, c *db.Tx, run, which string, args pgx.NamedArgs, why string) error {
	which = `a.run_id = @run AND ` + which
	args["run"], args["now"] = run, c.Now
	found, err := db.All[struct{ Cluster string }](ctx, c, `
		SELECT DISTINCT a.cluster_id AS cluster FROM access a WHERE `+openAccess+` AND `+which+` ORDER BY 1`, args)
	if err != nil {
		return fmt.Errorf("list the clusters to which %s has access: %w", run, err)
	}
	for _, one := range found {
		if _, err := clusters.Lock(ctx, c, one.Cluster); err != nil {
			return err
		}
		if _, err := access.Revoke(ctx, c, one.Cluster, which, args, clusters.Origin{Actor: db.Lifecycle, Why: why}); err != nil {
			return err
		}
	}
	return nil
}
