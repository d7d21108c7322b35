package clusters

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

type lockRecord struct {
	Lifecycle          LifecycleRecord
	HourlyCents, Nodes int
	AsleepCents        *int
	WorkerMicros       *int
	OnDemandCents      *int
	Clock              time.Time
}

func (r lockRecord) toHeld() usage.Held {
	return usage.Held{Cluster: r.Lifecycle.Cluster, Prices: usage.Prices{List: r.HourlyCents, Asleep: r.AsleepCents, Worker: r.WorkerMicros, OnDemand: r.OnDemandCents, Machines: r.Nodes}}
}

var lockSQL = `
	SELECT ` + LifecycleColumns + `, c.hourly_cents, c.nodes, c.asleep_cents, c.worker_micros, c.on_demand_cents, coalesce(@fixed::timestamptz, clock_timestamp()) AS clock
	FROM clusters c WHERE c.id = `

// Lock takes the cluster's row lock and reads the clock while it holds it.
func Lock(ctx context.Context, c *db.Tx, id string) (usage.Held, error) {
	r, err := db.One[lockRecord](ctx, c, lockSQL+`@id FOR NO KEY UPDATE`, pgx.NamedArgs{"id": id, "fixed": c.DB.Fixed()})
	if err != nil {
		return usage.Held{}, fmt.Errorf("lock %s: %w", id, err)
	}
	c.Now = r.Clock
	return r.toHeld(), nil
}

// QueueLockOf adds Lock of an attempt's cluster to a batch. read is called with the cluster and the time.
func QueueLockOf(c *db.Tx, b *db.Batch, attempt string, read func(usage.Held, time.Time)) {
	b.Ask("lock the cluster of "+attempt, func(rows pgx.Rows) error {
		var r lockRecord
		err := db.Into(&r)(rows)
		read(r.toHeld(), r.Clock)
		return err
	}, lockSQL+`(SELECT cluster_id FROM attempts WHERE id = @attempt) FOR NO KEY UPDATE`, pgx.NamedArgs{"attempt": attempt, "fixed": c.DB.Fixed()})
}
