package real

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/devstack/child"
	"github.com/ocpctl/ocpctl/devstack/gateway"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/cluster"
	"github.com/ocpctl/ocpctl/devstack/installer/script"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// run is one running real program.
type run struct {
	command
	*act.Act
	stderr io.Writer

	mu     sync.Mutex // one write after the other: each may be held
	struck error      // by a fault after a write
	end    context.CancelFunc
}

// Main runs a command by its real program and returns the exit code; ran is false if the stand-in has to run it. interrupted is the exit
// code after a signal; 0: the program dies of it.
func Main(args []string, interrupted int, stdout, stderr io.Writer) (code int, ran bool) {
	c, real := find(args)
	if !real {
		return 0, false
	}
	code, err := c.run(interrupted, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "level=fatal msg=%s\n", err)
		return max(code, 1), true
	}
	return code, true
}

func (c command) run(interrupted int, stdout, stderr io.Writer) (code int, err error) {
	defer must.Catch(&err)
	runtime.LockOSThread() // the child dies with the thread that started it
	r := &run{command: c, stderr: stderr, Act: must.Get(act.New())}
	r.Log = func(level, line string) { fmt.Fprintf(stderr, "level=%s msg=%s\n", level, line) }
	r.Failing = act.FailWith("told to fail")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if interrupted != 0 {
		var signalled func() bool
		var done func()
		ctx, signalled, done = r.Signals()
		defer done()
		defer func() {
			if signalled() && code < 0 {
				code = interrupted
			}
		}()
	}
	if c.key != "" {
		must.Do(r.Begin(c.key, c.cluster))
	}
	code, err = r.execute(ctx, stdout)
	if c.key != "" {
		must.Do(r.End(code))
	}
	return code, err
}

// execute runs the program behind a gateway of its own.
func (r *run) execute(ctx context.Context, stdout io.Writer) (code int, err error) {
	defer must.Catch(&err)
	if r.key != "" {
		if err := r.Mark(ctx, "start", 0); err != nil {
			return exitOf(err), err
		}
	}
	dir := must.Get(os.MkdirTemp("", "gateway-"))
	defer os.RemoveAll(dir)
	within, end := context.WithCancel(context.Background())
	defer end()
	r.end = end
	cfg := gateway.Config{Addr: "127.0.0.1:0", Dir: dir, Next: must.Get(gateway.NextFromEnvironment()), Wrote: r.wrote}
	var made *cluster.Cluster
	if r.key == createKey {
		cfg.Tunnel = func(hostPort string) (string, bool, error) { return made.Address(hostPort) }
	}
	g := must.Get(gateway.Start(within, cfg))
	defer g.Stop()
	if r.key == createKey {
		made = must.Get(r.newCluster(within, g, filepath.Join(dir, "cluster")))
		defer made.Stop()
	}
	cmd := exec.CommandContext(within, r.program, r.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(withoutEndpoints(os.Environ()), append(g.Environment(), dataVariable+"="+filepath.Join(filepath.Dir(r.program), "data"))...), stdout, r.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	child.EndWithParent(cmd.SysProcAttr, syscall.SIGKILL)
	if r.key == createKey {
		child.Contain(cmd.SysProcAttr) // its own processes outlive it when it is killed
	}
	began := time.Now()
	must.Do(cmd.Start())
	ended := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		case <-ended:
		}
	}()
	_ = cmd.Wait() // the exit code says how it ended
	close(ended)
	must.Do(r.noteUsage(cmd.ProcessState, time.Since(began)))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.struck != nil {
		return exitOf(r.struck), r.struck
	}
	return cmd.ProcessState.ExitCode(), nil
}

// newCluster returns the cluster that the installer creates.
func (r *run) newCluster(ctx context.Context, g *gateway.Server, dir string) (_ *cluster.Cluster, err error) {
	defer must.Catch(&err)
	must.Do(os.MkdirAll(dir, 0o700))
	began := time.Now()
	return cluster.New(ctx, cluster.Config{
		Programs: filepath.Dir(r.program), Dir: dir, Client: g.Client(), Version: installer.RealVersion, Cloud: must.Get(script.OpenCluster(ctx, r.flag("dir"))),
		Log: func(line string) {
			_ = noteLine(fmt.Sprintf("cluster %s after %.1f s: %s", r.cluster, time.Since(began).Seconds(), line)) // only for whoever looks
		},
	}), nil
}

// wrote is called after each write to the cloud, before its answer reaches the program.
func (r *run) wrote(service, action string) {
	if r.key == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.struck != nil {
		return
	}
	err := r.Wrote(service, action)
	if err == nil || errors.Is(err, act.ErrInterrupted) { // the program got the signal too
		return
	}
	r.struck = err
	r.end()
}

func exitOf(err error) int {
	var failed *act.Failure
	if errors.As(err, &failed) {
		return failed.Code
	}
	return -1
}

// dataVariable is the folder with the files that the installer otherwise has within it.
const dataVariable = "OPENSHIFT_INSTALL_DATA"

// withoutEndpoints removes the addresses of stand-ins: a real program uses the clouds' own names.
func withoutEndpoints(env []string) []string {
	return slices.DeleteFunc(env, func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return strings.HasPrefix(name, "AWS_ENDPOINT_URL") || strings.HasPrefix(name, "IBMCLOUD_") && strings.HasSuffix(name, "_ENDPOINT")
	})
}

// noteUsage adds how long the program ran and the most memory that it had.
func (r *run) noteUsage(state *os.ProcessState, took time.Duration) error {
	usage, _ := state.SysUsage().(*syscall.Rusage)
	return noteLine(fmt.Sprintf("%s %s: exit code %d, %.1f s, %.1f s of processor time, %d MB", filepath.Base(r.program), words(r.args), state.ExitCode(), took.Seconds(),
		(state.UserTime() + state.SystemTime()).Seconds(), usage.Maxrss>>10))
}

// noteLine adds a line to the file of UsageVariable.
func noteLine(line string) (err error) {
	defer must.Catch(&err)
	path := os.Getenv(UsageVariable)
	if path == "" {
		return nil
	}
	file := must.Get(os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
	defer file.Close()
	_, err = fmt.Fprintln(file, line)
	return err
}
