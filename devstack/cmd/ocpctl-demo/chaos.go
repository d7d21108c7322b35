package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/devstack/attack"
	"github.com/ocpctl/ocpctl/devstack/chaos"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// testModes are the flags of the tests that can run on a stack, instead of a demo.
type testModes struct {
	chaos  bool
	cycles int
	bound  time.Duration
	cells  int
	seed   uint64
	cell   string
	width  int
	attack bool
	only   string
	short  bool

	clouds    string
	nights    bool
	pools     bool
	takeovers int
	replicas  int
	old       string
}

func (t *testModes) flags() {
	flag.BoolVar(&t.chaos, "chaos", false, "strike clusters at every boundary of their lives, print the table, and stop")
	flag.IntVar(&t.cycles, "soak", 0, "let `n` clusters come and go with random faults, print the figures, and stop")
	flag.StringVar(&t.clouds, "clouds", "aws", "with -chaos and -soak: `platforms` of the clusters, aws, ibmcloud, kubernetes (a hub's namespaces) or hypershift (its hosted clusters); a soak takes several, separated by commas")
	flag.BoolVar(&t.nights, "nights", false, "with -soak: each cluster lives for a day and a night, in which it may sleep, and its cost is compared with its cloud's meter")
	flag.BoolVar(&t.pools, "pools", false, "with -soak: clusters wait in pools, and pull requests claim them")
	flag.DurationVar(&t.bound, "time", 10*time.Minute, "with -chaos: begin no round after it; 0: no bound")
	flag.IntVar(&t.cells, "n", 0, "with -chaos: strike at most `n` cells; 0: all")
	flag.Uint64Var(&t.seed, "seed", 0, "order and choices; 0: the clock's, printed")
	flag.StringVar(&t.cell, "cell", "", "with -chaos: only these cells, separated by commas: BOUNDARY/STRIKE, or all of a boundary, a strike or a phase")
	flag.IntVar(&t.width, "width", 0, "clusters at once; 0: what suits two cores")
	flag.IntVar(&t.takeovers, "takeover", 0, "end one of several servers `n` times while its jobs run, print how long it takes until another has done them, and stop")
	flag.IntVar(&t.replicas, "replicas", 0, "with -soak and -takeover: servers behind a load balancer; with -soak, one of several is killed at random moments")
	flag.StringVar(&t.old, "upgrade", "", "replace the older server in this `folder` by this one's while installs run, go back and forth, and stop")
	flag.BoolVar(&t.attack, "attack", false, "attack a demo of its own, print which attacks were held, and stop; exits with 1 if one got through")
	flag.StringVar(&t.only, "only", "", "with -attack: only attacks whose name begins with `PREFIX`")
	flag.BoolVar(&t.short, "short", false, "with -attack: only the short form that is part of make check")
}

func (t *testModes) wanted() bool {
	return t.chaos || t.cycles > 0 || t.takeovers > 0 || t.old != "" || t.attack
}

// run starts a separate stack in a fresh folder; the demo's is left alone.
func (t *testModes) run(dir string, kubernetes bool, real string) (err error) {
	defer must.Catch(&err)
	if t.attack {
		return t.attacks(dir)
	}
	if t.seed == 0 {
		t.seed = uint64(time.Now().Unix()) // long after 1970
	}
	place := filepath.Join(dir, "trial")
	must.Do(os.RemoveAll(place))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if t.takeovers > 0 || t.old != "" {
		t.replicas = max(t.replicas, 2)
	}
	h := must.Get(chaos.Start(ctx, chaos.Config{Dir: place, Bin: filepath.Join(dir, "bin"), Out: os.Stdout, Replicas: t.replicas, Old: t.old, Pools: t.pools, Kubernetes: kubernetes, Real: real, Clouds: strings.Split(t.clouds, ",")}))
	switch {
	case t.chaos:
		err = chaos.Matrix(ctx, h, chaos.Options{Time: t.bound, Cells: t.cells, Seed: t.seed, Only: t.cell, Width: t.width})
	case t.old != "":
		err = chaos.Upgrade(ctx, h)
	case t.takeovers > 0:
		err = chaos.Takeover(ctx, h, chaos.TakeoverOptions{Rounds: t.takeovers, Seed: t.seed})
	default:
		err = chaos.Soak(ctx, h, chaos.SoakOptions{Cycles: t.cycles, Width: t.width, Seed: t.seed, Nights: t.nights})
	}
	stop()
	return errors.Join(err, h.Stop())
}

// attacks runs the attacks on a separate demo in a fresh folder.
func (t *testModes) attacks(dir string) error {
	place := filepath.Join(dir, "attack")
	if err := os.RemoveAll(place); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return attack.Run(ctx, attack.Config{Dir: place, Bin: filepath.Join(dir, "bin"), Out: os.Stdout, Short: t.short, Only: t.only})
}
