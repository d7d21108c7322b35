// Command ocpctl-demo starts the development stack on this machine: the real server and runners around embedded parts.
// GitHub, the cloud and the installer are stand-ins, and say so.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/e2e"
	"github.com/ocpctl/ocpctl/devstack/github/actions"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/buildinfo"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ocpctl-demo:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	defer must.Catch(&err)
	dir := flag.String("dir", ".demo", "where the demo keeps its `state`")
	play := flag.Bool("story", false, "play a pull request's whole life, check every step, and stop")
	kubernetes := flag.Bool("kubernetes", false, "runners are Jobs on a Kubernetes cluster of this machine, which make build-kubernetes builds")
	real := flag.String("real", "", "clusters of the default version are made by the real openshift-install and ccoctl in this `folder`, which make build-installer builds")
	var modes testModes
	modes.flags()
	show := flag.Bool("version", false, "print the version and end")
	flag.Parse()
	if *show {
		fmt.Println(buildinfo.Read().Line("ocpctl-demo"))
		return nil
	}
	if modes.wanted() {
		return modes.run(*dir, *kubernetes, *real)
	}
	cfg := must.Get(settings(*dir, *play))
	cfg.Kubernetes, cfg.Real = *kubernetes, *real
	if *play { // a demo that was used has clusters, people and settings that the test does not expect
		must.Do(os.RemoveAll(cfg.Dir))
	}
	release := must.Get(takePID(cfg.Dir))
	defer release()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	began := time.Now()
	h := must.Get(devstack.Start(ctx, cfg))
	if *play {
		err = playScenario(ctx, h)
	} else {
		login := must.Get(h.StartLogin(ctx, h.Ports.Login))
		defer login.Stop()
		welcome(os.Stdout, h, time.Since(began))
		var preparing sync.WaitGroup
		preparing.Go(func() { // it may take a minute, which nobody waits for who runs no workflow
			if err := actions.FindProgram(ctx); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "workflows cannot run:", err)
			}
		})
		h.Supervise(ctx, os.Stdout)
		preparing.Wait()
		fmt.Println("\nstopping, runners first: an install that is interrupted now is torn down and tried again at the next start …")
	}
	stop() // a second Ctrl-C ends the program at once
	if err = errors.Join(err, h.Stop()); err == nil && !*play {
		fmt.Println("stopped. make demo continues from here.")
	}
	return err
}

func playScenario(ctx context.Context, h *devstack.Stack) error {
	places, err := h.Places()
	if err != nil {
		return err
	}
	return e2e.Play(ctx, places, os.Stdout)
}

// settings reads the demo's environment variables, each of which scales one value.
func settings(dir string, play bool) (devstack.Config, error) {
	cfg := devstack.Config{Dir: dir, Bin: filepath.Join(dir, "bin"), BasePort: 8080, Workflows: true, Source: ".", Pools: !play, Accounts: !play, Hubs: !play, Scarce: !play, Breaker: 3}
	if play { // an end-to-end test should be short, and its grace period must end while an install still runs
		cfg.Hour, cfg.Grace = 15*time.Second, 4*time.Second
		cfg.Dir, cfg.BasePort = filepath.Join(dir, "story"), 0 // it runs beside a demo
	}
	if raw := os.Getenv("OCPCTL_DEMO_PORT"); raw != "" {
		port, err := strconv.Atoi(raw)
		if err != nil || port < 1024 || port > 65500 {
			return cfg, fmt.Errorf("OCPCTL_DEMO_PORT is %q; give the first of fifteen ports, 1024 to 65500", raw)
		}
		cfg.BasePort = port
	}
	for _, v := range []struct {
		name string
		to   *time.Duration
	}{
		{"OCPCTL_DEMO_HOUR", &cfg.Hour}, {"OCPCTL_DEMO_GRACE", &cfg.Grace}, {"OCPCTL_DEMO_PACE", &cfg.Pace},
	} {
		raw := os.Getenv(v.name)
		if raw == "" {
			continue
		}
		d, err := time.ParseDuration(raw)
		if err != nil || d <= 0 {
			return cfg, fmt.Errorf("%s is %q; give a duration above zero such as 30s or 1h", v.name, raw)
		}
		*v.to = d
	}
	return cfg, nil
}

// takePID prevents two demos from using the same state.
func takePID(dir string) (release func(), err error) {
	defer must.Catch(&err)
	must.Do(os.MkdirAll(dir, 0o711))
	path := filepath.Join(dir, "demo.pid")
	if raw, err := os.ReadFile(path); err == nil {
		pid, _ := strconv.Atoi(strings.TrimSpace(string(raw)))
		must.FailIf(pid > 0 && pid != os.Getpid() && isDemo(pid),
			"a demo is already running on %s (pid %d); stop it with Ctrl-C, or use another folder with DEMO_DIR=…", dir, pid)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	must.Do(os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644))
	return func() { os.Remove(path) }, nil
}

// isDemo guards against a pid that was reused.
func isDemo(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return err != nil || strings.HasPrefix(string(name), "ocpctl-demo")
}
