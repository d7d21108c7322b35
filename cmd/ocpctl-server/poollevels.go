package main

import (
	"context"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/metrics"
	"github.com/ocpctl/ocpctl/lifecycle/pool"
)

// poolLevels returns how the pools stand, for the metrics.
func poolLevels(ctx context.Context, core *app.Service) ([]metrics.PoolLevel, error) {
	states, err := core.Pools(ctx)
	if err != nil {
		return nil, err
	}
	var out []metrics.PoolLevel
	for _, p := range states {
		desired := p.DesiredNow()
		out = append(out, metrics.PoolLevel{Pool: p.Name, WaitingCents: p.SpentCents, Clusters: map[string]int{
			"desired": desired, "running": min(desired, p.Running), "waiting": p.Count(pool.Waiting), "asleep": p.Count(pool.Asleep), "making": p.Making(), "claimed": p.Claimed(),
		}})
	}
	return out, nil
}
