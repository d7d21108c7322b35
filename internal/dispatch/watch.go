package dispatch

import (
	"context"
	"path/filepath"
	"slices"
	"time"
)

// watchEvery is how soon the end of a runner is noticed.
const watchEvery = 2 * time.Second

// watched is a runner that was started.
type watched struct {
	id      identity
	cluster string
	ended   bool
}

// Watch calls changed with the cluster of every runner that ended, until ctx ends; once more after the server was started again. Every
// replica on the machine may watch. Watching makes decisions come sooner; none depends on it.
func (p *Process) Watch(ctx context.Context, changed func(cluster string)) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	started := map[string]watched{} // by attempt
	for {
		p.findStartedRunners(ctx, started)
		for attempt, w := range started {
			if w.ended {
				continue
			}
			if alive, err := w.id.isAlive(); err != nil || alive { // whoever decides about the cluster meets the error too
				continue
			}
			if seen, err := p.Observe(ctx, attempt); err != nil || seen.Sighting != Ended { // something that it started is still being killed
				continue
			}
			w.ended = true
			started[attempt] = w
			changed(w.cluster)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// findStartedRunners adds the runners of clusters that are not watched yet, and removes those whose directory is gone.
func (p *Process) findStartedRunners(ctx context.Context, started map[string]watched) {
	kept, err := p.Kept(ctx)
	if err != nil {
		return // the collector of attempts meets the error too
	}
	for attempt := range started {
		if _, found := slices.BinarySearch(kept, attempt); !found {
			delete(started, attempt)
		}
	}
	for _, attempt := range kept {
		if _, known := started[attempt]; known {
			continue
		}
		id, err := loadIdentity(filepath.Join(p.cfg.WorkDir, attempt, processFile))
		_, cluster := p.findStarted(attempt)
		if err != nil || cluster == "" || cluster == noCluster { // not written yet, or a scan, which is looked at by itself
			continue
		}
		started[attempt] = watched{id: id, cluster: cluster}
	}
}
