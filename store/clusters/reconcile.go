package clusters

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/oklog/ulid/v2"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/internal/queue"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// RequestReconcile counts a new fact about the cluster and enqueues a reconcile.
func RequestReconcile(ctx context.Context, c *db.Tx, cluster string) error {
	return RequestReconciles(ctx, c, []string{cluster})
}

// RequestReconciles is RequestReconcile for several clusters.
func RequestReconciles(ctx context.Context, c *db.Tx, all []string) error {
	poked, err := db.All[queue.ReconcileArgs](ctx, c, `UPDATE clusters SET pokes = pokes + 1 WHERE id = ANY ($1) RETURNING id AS cluster, pokes`, all)
	if err == nil && len(poked) < len(all) {
		err = db.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("poke %v: %w", all, err)
	}
	for _, job := range poked {
		c.Enqueue(job)
	}
	return nil
}

// Publish enqueues one update of all subscribers of the cluster.
func Publish(ctx context.Context, c *db.Tx, cluster string, version int64) error {
	return publishAll(ctx, c, []string{cluster}, []int64{version})
}

func publishAll(ctx context.Context, c *db.Tx, all []string, versions []int64) error {
	jobs, err := db.All[queue.PublishArgs](ctx, c, `
		WITH told AS (
			UPDATE subscribers s SET wanted_version = v.version, nudge_at = @nudge FROM unnest(@clusters::text[], @versions::bigint[]) AS v (cluster, version)
			WHERE s.cluster_id = v.cluster AND NOT s.muted AND NOT s.left_behind RETURNING s.cluster_id AS cluster, v.version)
		SELECT DISTINCT '' AS subscriber, cluster, version FROM told`,
		pgx.NamedArgs{"clusters": all, "versions": versions, "nudge": c.Now.Add(NudgeSoon)})
	if err != nil {
		return fmt.Errorf("tell the subscribers of %v: %w", all, err)
	}
	for _, job := range jobs {
		c.Enqueue(job)
	}
	return nil
}

// Bump makes a new version of a locked row in which nothing changed that a decision depends on.
func Bump(ctx context.Context, c *db.Tx, cluster string) (version int64, err error) {
	err = c.QueryRow(ctx, `UPDATE clusters SET row_version = row_version + 1, updated_at = $2 WHERE id = $1 RETURNING row_version`, cluster, c.Now).Scan(&version)
	if err != nil {
		return 0, fmt.Errorf("bump %s: %w", cluster, err)
	}
	return version, nil
}

// Refresh has every subscriber of a locked cluster updated, because of something that they show and that is not in its row.
func Refresh(ctx context.Context, c *db.Tx, cluster string) error {
	version, err := Bump(ctx, c, cluster)
	if err != nil {
		return err
	}
	return Publish(ctx, c, cluster, version)
}

// SetDesired writes a change of the desired state or of an end. It bumps the row version, enqueues a reconcile and updates
// subscribers and notices.
func SetDesired(ctx context.Context, c *db.Tx, id, set string, args pgx.NamedArgs) error {
	changed, err := setDesired(ctx, c, []string{id}, set, "true", args)
	if err == nil && len(changed) == 0 {
		err = fmt.Errorf("write the desired state of %s: %w", id, db.ErrNotFound)
	}
	return err
}

// SetDesiredOfMany is SetDesired for those of several clusters for which a condition holds. It returns their ids.
func SetDesiredOfMany(ctx context.Context, c *db.Tx, all []string, set, where string, args pgx.NamedArgs) (changed []string, err error) {
	return setDesired(ctx, c, all, set, where, args)
}

func setDesired(ctx context.Context, c *db.Tx, all []string, set, where string, args pgx.NamedArgs) (changed []string, err error) {
	args["ids"], args["now"] = all, c.Now
	rows, err := db.All[struct {
		ID                string
		RowVersion, Pokes int64
	}](ctx, c, `UPDATE clusters SET `+set+`,
			row_version = row_version + 1, pokes = pokes + 1, updated_at = @now, wake_at = @now
		WHERE id = ANY (@ids) AND `+where+` RETURNING id, row_version, pokes`, args)
	if err != nil {
		return nil, fmt.Errorf("write the desired state: %w", err)
	}
	versions := make([]int64, len(rows))
	for i, row := range rows {
		changed, versions[i] = append(changed, row.ID), row.RowVersion
		c.Enqueue(queue.ReconcileArgs{Cluster: row.ID, Pokes: row.Pokes})
	}
	if err := RefreshOutdated(ctx, c, changed...); err != nil {
		return nil, err
	}
	return changed, publishAll(ctx, c, changed, versions)
}

// NewVersion makes a new version of a cluster of which only what people see changed, and updates subscribers and notices.
func NewVersion(ctx context.Context, c *db.Tx, id string) error {
	var version int64
	err := c.QueryRow(ctx, `UPDATE clusters SET row_version = row_version + 1, updated_at = $2 WHERE id = $1 RETURNING row_version`, id, c.Now).Scan(&version)
	if err != nil {
		return fmt.Errorf("make a new version of %s: %w", id, err)
	}
	if err := RefreshOutdated(ctx, c, id); err != nil {
		return err
	}
	return Publish(ctx, c, id, version)
}

// ScheduleLook schedules checks of a pull request. It counts as checked now, because it was just heard of.
func ScheduleLook(c *db.Tx, b *db.Batch, pr PRRef) {
	b.Do("have it looked at", `
		INSERT INTO looks (repo, number, looked_at) VALUES ($1, $2, $3) ON CONFLICT (repo, number) DO UPDATE SET looked_at = excluded.looked_at`,
		pr.Repo, pr.Number, c.Now)
}

// NextTurns enqueues a pass over the queues for full quotas and free runners, once for each transaction. A change during a pass gets a pass of
// its own.
func NextTurns(c *db.Tx) {
	isPass := func(job river.JobArgs) bool { _, is := job.(queue.TurnsArgs); return is }
	if !slices.ContainsFunc(c.Jobs, isPass) {
		c.Enqueue(queue.TurnsArgs{News: ulid.Make().String()})
	}
}

// FreeRunner enqueues a pass over the queue for runners: an attempt was closed. Without caps nobody waits there.
func FreeRunner(c *db.Tx) {
	if c.DB.Options.Limits.Runners != (lifecycle.RunnerCaps{}) {
		NextTurns(c)
	}
}

const (
	// NudgeSoon is how long a subscriber may lag behind its cluster before it is enqueued again.
	NudgeSoon = 2 * time.Second
	// NudgeAgain is how long enqueued work may take before it is enqueued again.
	NudgeAgain = 30 * time.Second
)

// activeAgain is how long a cluster counts as used by what was noted last: what uses it often makes no version of it each time.
const activeAgain = 5 * time.Minute

// Used are the columns that change when a cluster is used at the time @used, for @what. A life that counts from use begins anew, up to the maximum.
const Used = `active_at = @used, active_what = @what,
	end_ttl = CASE WHEN use_extends THEN greatest(end_ttl, least(end_max, @used::timestamptz + ttl)) ELSE end_ttl END`

// Active notes that the locked cluster was used. It has no effect on one for which use does not matter, that is not ready or that is going.
func Active(ctx context.Context, c *db.Tx, cur usage.Held, what lifecycle.Activity) error {
	if !cur.UseMatters() || cur.Status != lifecycle.Ready || cur.Desired != lifecycle.Present || !cur.SleepWanted && c.Now.Sub(cur.ActiveAt) < activeAgain {
		return nil
	}
	return SetDesired(ctx, c, cur.ID, Used, pgx.NamedArgs{"what": what, "used": c.Now})
}

// WasActive notes an earlier use of the locked cluster, if none is known since. It has no effect on one for which Active has none. If its people
// were told too early that nobody uses it, they are told anew.
func WasActive(ctx context.Context, c *db.Tx, cur usage.Held, at time.Time, what lifecycle.Activity) error {
	if !cur.UseMatters() || cur.Status != lifecycle.Ready || cur.Desired != lifecycle.Present || !at.After(cur.UnusedSince()) {
		return nil
	}
	set := Used
	if cur.ToldTooEarly(at) {
		set += `, idle_told = NULL`
	}
	return SetDesired(ctx, c, cur.ID, set, pgx.NamedArgs{"what": what, "used": at})
}
