package clusters

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/usage"
)

// Lock takes the cluster's row lock and reads the clock while it holds it.
func Lock(ctx context.Context, c *db.Tx, id string) (usage.Held, error) {
	type record struct {
		Lifecycle          LifecycleRecord
		HourlyCents, Nodes int
		AsleepCents        *int
		WorkerMicros       *int
		Clock              time.Time
	}
	r, err := db.One[record](ctx, c, `
		SELECT `+LifecycleColumns+`, c.hourly_cents, c.nodes, c.asleep_cents, c.worker_micros, coalesce(@fixed::timestamptz, clock_timestamp()) AS clock
		FROM clusters c WHERE c.id = @id FOR NO KEY UPDATE`, pgx.NamedArgs{"id": id, "fixed": c.DB.Fixed()})
	if err != nil {
		return usage.Held{}, fmt.Errorf("lock %s: %w", id, err)
	}
	c.Now = r.Clock
	return usage.Held{Cluster: r.Lifecycle.Cluster, Prices: usage.Prices{List: r.HourlyCents, Asleep: r.AsleepCents, Worker: r.WorkerMicros, Machines: r.Nodes}}, nil
}
