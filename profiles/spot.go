package profiles

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// leastSpotTries leaves a try on spot machines before the last one, which is on demand.
const leastSpotTries = 2

// spot reads which machines are spot machines.
func spot(r *reader, into *string) field {
	f := choice("spot", into, SpotWorkers)
	read := f.read
	f.read = func(n *yaml.Node, path string) bool {
		if scalar(n, "!!str") && n.Value == "all" {
			r.failOn(n, path, "all is not supported: OpenShift allows no control plane on spot machines, because etcd loses its quorum when AWS takes them back", SpotWorkers)
			return true
		}
		return read(n, path)
	}
	return optional(f)
}

// compareSpot allows spot machines only where they can be ordered, and nothing that stops them.
func compareSpot(r *reader, p Profile) {
	if p.Spot == "" || !r.good("spot") {
		return
	}
	if r.good("platform") && p.Platform != "aws" {
		r.failAt("spot", "given on "+p.Platform+", whose installer cannot order spot machines", "none, or platform: aws")
	}
	if r.good("workers.replicas") && p.Workers.Replicas == 0 {
		r.failAt("spot", "workers without workers", "none, or workers.replicas of 2 or more")
	}
	if r.good("attempts") && p.Attempts < leastSpotTries {
		r.failAt("attempts", fmt.Sprintf("%d with spot: workers, whose last try is on demand", p.Attempts), fmt.Sprintf("%d or more", leastSpotTries))
	}
	if r.good("sleep.mode") && p.Sleep != "" && p.Sleep != SleepNever {
		r.failAt("sleep.mode", p.Sleep+" with spot: workers: AWS ends spot machines instead of stopping them, and may have none when the cluster wakes", SleepNever)
	}
}

// acceptSleep says with what the clusters of a profile that cannot sleep could.
func acceptSleep(p Profile) string {
	if p.Spot != "" {
		return "none, or a profile without spot: AWS ends spot machines instead of stopping them"
	}
	return "none, or workers that can be scaled, or sleep: {mode: stopped}"
}
