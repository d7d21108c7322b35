package main

import (
	"context"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/metrics"
)

// accountLevels returns how the cloud accounts stand, for the metrics.
func accountLevels(ctx context.Context, core *app.Service) ([]metrics.AccountLevel, error) {
	states, rooms, err := core.AccountLevels(ctx)
	if err != nil {
		return nil, err
	}
	var out []metrics.AccountLevel
	for _, a := range states {
		level := metrics.AccountLevel{Account: a.Name, Clusters: a.Live, Cap: a.Cap, Unproven: !a.Proof.IsProven(), Failed: a.Proof.HasFailed()}
		for _, r := range rooms {
			if r.Name == a.Name {
				level.Room = append(level.Room, metrics.AccountRoom{Region: r.Region, Profile: r.Profile, Clusters: r.Clusters})
			}
		}
		out = append(out, level)
	}
	return out, nil
}
