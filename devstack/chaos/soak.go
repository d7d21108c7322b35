package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// SoakOptions are the options of a soak.
type SoakOptions struct {
	Cycles int    // number of creates and destroys
	Width  int    // concurrent cycles; 0: 6
	Seed   uint64 // determines each cycle's fault and end
	// Nights makes each cluster live for a day and a night, in which hours pass at once: clusters sleep outside working hours, because
	// nobody uses them, or because somebody says so, and what they cost is compared with the cloud's own meter.
	Nights bool
}

// Soak creates and destroys clusters through the product's own entry points, with a pull request each and faults in many of them, and
// returns an error unless every one was released without help and nothing is left.
func Soak(ctx context.Context, t *Run, o SoakOptions) (err error) {
	defer must.Catch(&err)
	if o.Width == 0 {
		o.Width = 6
	}
	must.FailIf(o.Nights && len(t.Servers) > 1,
		"a soak with nights runs with one server, because only one would read the working hours at once; leave out -replicas")
	must.FailIf(o.Nights && (t.Pools || t.Hub != nil), "a soak with nights runs on AWS and IBM Cloud, without pools: leave out POOLS, and kubernetes of CLOUD")
	before := must.Get(t.settle(ctx, o))
	t.say("soak, seed %d: %d cycles, %d at once", o.Seed, o.Cycles, o.Width)
	run := t.cycles
	if o.Nights {
		run = t.days
	}
	var kill *killer
	if len(t.Servers) > 1 {
		kill = t.startKiller(ctx, o.Seed)
	} else {
		t.trace.forget()
	}
	use := t.watchProcesses(ctx)
	began := time.Now()
	full := t.watchPools(ctx)
	done, failed := run(ctx, o)
	took := time.Since(began)
	t.later.Wait()
	failed = errors.Join(failed, full(), t.drainPools(ctx, done))
	spent, peak := use.stop()
	if kill != nil {
		kills, err := kill.stop()
		if err != nil {
			return errors.Join(failed, err)
		}
		t.say("\none of %d servers was killed %d times, every %.1f s", len(t.Servers), kills, took.Seconds()/float64(max(kills, 1)))
	}
	if failed != nil {
		return errors.Join(failed, failures(done))
	}
	after := must.Get(t.bytesStored(ctx, false))
	err = errors.Join(t.printSoak(done, took, spent, peak), t.nothingLost(ctx))
	if o.Nights {
		err = errors.Join(err, t.printNights(ctx, done))
	}
	if t.Kubernetes {
		err = errors.Join(err, t.printCalls(ctx), t.forgotten(ctx))
	}
	return errors.Join(err, t.printStored(ctx, before, after, max(len(done), 1)))
}

// settle measures what is stored when each table has its first pages: after a few cycles that do not count, and whose rows are pruned. In a
// soak with nights every cluster counts.
func (t *Run) settle(ctx context.Context, o SoakOptions) (stored, error) {
	if !o.Nights {
		first, err := t.cycles(ctx, SoakOptions{Cycles: o.Width, Width: o.Width, Seed: o.Seed + 1})
		if err = errors.Join(err, failures(first)); err != nil {
			return stored{}, err
		}
	}
	return t.pruned(ctx)
}

// cycles runs all cycles, a limited number at once.
func (t *Run) cycles(ctx context.Context, o SoakOptions) ([]*cycle, error) {
	next, results := make(chan *cycle), make(chan *cycle, o.Cycles)
	var workers sync.WaitGroup
	for range o.Width {
		workers.Go(func() {
			for c := range next {
				began := time.Now()
				c.err = t.live(ctx, c)
				c.took = time.Since(began)
				results <- c
			}
		})
	}
	workers.Go(func() {
		defer close(next)
		for n := range o.Cycles {
			select {
			case next <- newCycle(o.Seed, n, t.clouds):
			case <-ctx.Done():
				return
			}
		}
	})
	var done []*cycle
	began := time.Now()
	go func() { workers.Wait(); close(results) }()
	for c := range results {
		done = append(done, c)
		if c.err != nil {
			t.say("  %v", c.failure())
		}
		if step := max(o.Cycles/10, 10); len(done)%step == 0 {
			t.say("  %4d released, %.2f cycles/s", len(done), float64(len(done))/time.Since(began).Seconds())
		}
	}
	return done, ctx.Err()
}

// printSoak prints the figures and returns an error if the soak failed.
func (t *Run) printSoak(done []*cycle, took time.Duration, spent map[string]time.Duration, peak uint64) error {
	var errs []error
	disturbed := map[string]int{}
	ready, released := 0, 0
	var times []time.Duration
	for _, c := range done {
		disturbed[c.fault]++
		if c.ready {
			ready++
		}
		if c.err == nil {
			released++
			if c.took > 0 {
				times = append(times, c.took)
			}
		}
	}
	slices.Sort(times)
	n := max(len(done), 1)
	t.say("\n%d cycles in %.0f s: %.2f cycles/s; %d were ready, %d (%.1f %%) released without a human", len(done), took.Seconds(),
		float64(len(done))/took.Seconds(), ready, released, 100*float64(released)/float64(n))
	if len(times) > 0 {
		t.say("label to released: p50 %.1f s, p99 %.1f s", times[len(times)/2].Seconds(), times[len(times)*99/100].Seconds())
	}
	met := pick.Map(slices.Sorted(maps.Keys(disturbed)), func(fault string) string { return fmt.Sprintf("%s %d", fault, disturbed[fault]) })
	t.say("mishaps: %s", strings.Join(met, ", "))
	cpu := pick.Map(slices.Sorted(maps.Keys(spent)), func(kind string) string {
		return fmt.Sprintf("%s %.2f", kind, spent[kind].Seconds()/float64(n))
	})
	t.say("CPU seconds per cycle: %s", strings.Join(cpu, ", "))
	t.say("peak memory of a runner: %.1f MB", float64(peak)/(1<<20))
	if released < len(done) {
		errs = append(errs, fmt.Errorf("%d of %d were not released without help", len(done)-released, len(done)))
	}
	left := t.Left("")
	t.say("left in the cloud: %d", len(left))
	if len(left) > 0 {
		errs = append(errs, fmt.Errorf("%d things are left in the cloud, the first is %s", len(left), left[0]))
	}
	return errors.Join(errs...)
}
