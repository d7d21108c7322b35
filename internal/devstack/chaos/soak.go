package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/internal/devstack/installer"
)

// SoakOptions are the options of a soak.
type SoakOptions struct {
	Cycles int    // number of creates and destroys
	Width  int    // concurrent cycles; 0: 6
	Seed   uint64 // determines each cycle's fault and end
}

// cycle is one cluster's life in a soak.
type cycle struct {
	number int
	rng    *rand.Rand
	fault  string
	end    string
	ready  bool
	err    error
	took   time.Duration
}

// Soak creates and destroys clusters through the product's own entry points, with a pull request each and faults in many of them, and
// returns an error unless every one was released without help and nothing is left.
func Soak(ctx context.Context, t *Run, o SoakOptions) error {
	if o.Width == 0 {
		o.Width = 6
	}
	before, err := t.bytesStored(ctx)
	if err != nil {
		return err
	}
	t.say("soak, seed %d: %d cycles, %d at once", o.Seed, o.Cycles, o.Width)
	var kill *killer
	if len(t.Servers) > 1 {
		kill = t.startKiller(ctx, o.Seed)
	} else {
		t.trace.forget()
	}
	use := t.watchProcesses(ctx)
	began := time.Now()
	done := t.cycles(ctx, o)
	took := time.Since(began)
	spent, peak := use.stop()
	if kill != nil {
		kills, err := kill.stop()
		if err != nil {
			return err
		}
		t.say("\none of %d servers was killed %d times, every %.1f s", len(t.Servers), kills, took.Seconds()/float64(max(kills, 1)))
	}
	after, err := t.bytesStored(ctx)
	if err != nil {
		return err
	}
	err = errors.Join(t.printSoak(done, took, spent, peak, before, after), t.nothingLost(ctx))
	if t.Kubernetes {
		err = errors.Join(err, t.printCalls(ctx), t.forgotten(ctx))
	}
	return err
}

// cycles runs all cycles, a limited number at once.
func (t *Run) cycles(ctx context.Context, o SoakOptions) []*cycle {
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
	workers.Add(1)
	go func() {
		defer workers.Done()
		defer close(next)
		for n := range o.Cycles {
			rng := rand.New(rand.NewPCG(o.Seed, uint64(n))) //nolint:gosec // which fault, not a secret
			c := &cycle{number: n, rng: rng, fault: mishaps()[rng.IntN(len(mishaps()))], end: []string{"command", "close", "unlabel"}[rng.IntN(3)]}
			select {
			case next <- c:
			case <-ctx.Done():
				return
			}
		}
	}()
	var done []*cycle
	began := time.Now()
	go func() { workers.Wait(); close(results) }()
	for c := range results {
		done = append(done, c)
		if c.err != nil {
			t.say("  cycle %d (%s, ended by %s): %v", c.number, c.fault, c.end, c.err)
		}
		if step := max(o.Cycles/10, 10); len(done)%step == 0 {
			t.say("  %4d released, %.2f cycles/s", len(done), float64(len(done))/time.Since(began).Seconds())
		}
	}
	return done
}

// mishaps are the possible faults of a cycle; half of all cycles have none.
func mishaps() []string {
	drawn := []string{
		"install fails", "bootstrap fails", "installer dies", "ccoctl fails", "ccoctl dies", "destroy dies", "destroy leaves something",
		"ccoctl delete forgets", "runner killed", "runner terminated", "ended mid-install",
	}
	return append(drawn, slices.Repeat([]string{"none"}, len(drawn))...)
}

// live runs one cycle: a pull request, a label, perhaps a fault, an end, and the check that nothing is left.
func (t *Run) live(ctx context.Context, c *cycle) error {
	pr, err := t.GitHub.Open("One of many", person)
	if err != nil {
		return err
	}
	key, fault := c.plan(nameOf(pr))
	if key != "" {
		if err := t.setFault(key, &fault); err != nil {
			return err
		}
	}
	if err := t.GitHub.Label(pr, label, person); err != nil {
		return err
	}
	if err := t.midway(ctx, c, pr); err != nil {
		return err
	}
	if c.fault != "ended mid-install" {
		// After some failures a retry is useless, and the cluster ends by itself.
		err := t.await(ctx, pr, "READY, or given up", patience, func(now cluster) bool {
			c.ready = isReady(now)
			return c.ready || now.Desired == "absent"
		})
		if err != nil {
			return err
		}
	}
	if err := t.endBy(pr, c.end); err != nil {
		return err
	}
	if err := t.await(ctx, pr, "released", patience, isReleased); err != nil {
		return err
	}
	err = t.nothingLeft(ctx, pr)
	if len(t.Servers) > 1 {
		err = errors.Join(err, t.nothingTwice(ctx, pr))
	}
	return err
}

// plan returns the fault of the stand-in programs in a cycle, which happens once.
func (c *cycle) plan(name string) (key string, fault installer.Fault) {
	at := installer.Steps()[c.rng.IntN(len(installer.Steps()))]
	kinds := []string{"elastic-ip", "vpc", "bucket", "hosted-zone"}
	command := map[string]string{
		"install fails": "create", "bootstrap fails": "create", "installer dies": "create", "ccoctl fails": "ccoctl-create", "ccoctl dies": "ccoctl-create",
		"destroy dies": "destroy", "destroy leaves something": "destroy", "ccoctl delete forgets": "ccoctl-delete",
	}[c.fault]
	if command == "" {
		return "", fault
	}
	switch c.fault {
	case "install fails":
		fault = installer.Fault{FailAt: "machines", Message: "InsufficientInstanceCapacity: we currently do not have sufficient m6i.xlarge capacity"}
	case "bootstrap fails":
		fault = installer.Fault{FailAt: "bootstrap"}
	case "installer dies":
		fault = installer.Fault{FailAt: at, Kill: true}
	case "ccoctl fails":
		fault = installer.Fault{AfterWrites: 1 + c.rng.IntN(8), Exit: 1}
	case "ccoctl dies":
		fault = installer.Fault{AfterWrites: 1 + c.rng.IntN(8), Kill: true}
	case "destroy dies":
		fault = installer.Fault{AfterWrites: 1 + c.rng.IntN(20), Kill: true}
	case "destroy leaves something":
		fault = installer.Fault{Leave: kinds[c.rng.IntN(len(kinds)):][:1]}
	case "ccoctl delete forgets":
		fault = installer.Fault{Leak: []string{installer.LeakIdentity}}
	}
	fault.Times = 1
	return command + "/" + faultName(command, name), fault
}

// midway kills the runner, or ends the cluster, at a random moment of the create.
func (t *Run) midway(ctx context.Context, c *cycle, pr int) error {
	phases := []string{"preflight", "claiming", "rendering", "recording", "installing", "configuring"}
	at := phases[c.rng.IntN(len(phases))]
	sig := map[string]syscall.Signal{"runner killed": syscall.SIGKILL, "runner terminated": syscall.SIGTERM}[c.fault]
	if sig == 0 && c.fault != "ended mid-install" {
		return nil
	}
	err := t.await(ctx, pr, "past "+at, patience, func(now cluster) bool {
		return slices.Index(phases, now.Phase) >= slices.Index(phases, at) && now.Attempt != "" || isReady(now)
	})
	if err != nil || sig == 0 {
		return err
	}
	now, _ := t.board.of(pr)
	if pid, err := t.runnerPID(now.Attempt); err == nil {
		_ = syscall.Kill(pid, sig) // it may have ended meanwhile, because the moment is random
	}
	return nil
}

func (t *Run) endBy(pr int, how string) error {
	switch how {
	case "close":
		return t.GitHub.Close(pr, person)
	case "unlabel":
		return t.GitHub.Unlabel(pr, label, person)
	}
	return t.destroy(pr)
}

// printSoak prints the figures and returns an error if the soak failed.
func (t *Run) printSoak(done []*cycle, took time.Duration, spent map[string]time.Duration, peak uint64, before, after stored) error {
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
			times = append(times, c.took)
		}
	}
	slices.Sort(times)
	n := max(len(done), 1)
	t.say("\n%d cycles in %.0f s: %.2f cycles/s; %d were ready, %d (%.1f %%) released without a human", len(done), took.Seconds(),
		float64(len(done))/took.Seconds(), ready, released, 100*float64(released)/float64(n))
	if len(times) > 0 {
		t.say("label to released: p50 %.1f s, p99 %.1f s", times[len(times)/2].Seconds(), times[len(times)*99/100].Seconds())
	}
	var met []string
	for _, fault := range slices.Sorted(maps.Keys(disturbed)) {
		met = append(met, fmt.Sprintf("%s %d", fault, disturbed[fault]))
	}
	t.say("mishaps: %s", strings.Join(met, ", "))
	var cpu []string
	for _, kind := range slices.Sorted(maps.Keys(spent)) {
		cpu = append(cpu, fmt.Sprintf("%s %.2f", kind, spent[kind].Seconds()/float64(n)))
	}
	t.say("CPU seconds per cycle: %s", strings.Join(cpu, ", "))
	t.say("peak memory of a runner: %.1f MB", float64(peak)/(1<<20))
	t.say("stored per cluster: S3 %.1f kB, PostgreSQL %.1f kB", float64(after.s3-before.s3)/float64(n)/1024, float64(after.pg-before.pg)/float64(n)/1024)
	if released < len(done) {
		errs = append(errs, fmt.Errorf("%d of %d were not released without help", len(done)-released, len(done)))
	}
	left := t.AWS.Resources("")
	t.say("left in the cloud: %d", len(left))
	if len(left) > 0 {
		errs = append(errs, fmt.Errorf("%d things are left in the cloud, the first is %s %s %s", len(left), left[0].Type, left[0].ID, left[0].Name))
	}
	return errors.Join(errs...)
}
