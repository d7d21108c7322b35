// Package script is the behaviour of the stand-in installer: its commands, files, log lines and exit codes, after openshift-install
// 4.20. Package resources does its work in the cloud.
package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// The real installer's exit codes (its cmd/openshift-install/command/waitfor.go and create.go).
const (
	exitGeneric        = 1
	exitConfig         = 3
	exitInfrastructure = 4
	exitBootstrap      = 5
	exitInstall        = 6
	exitUnstable       = 7
	Interrupted        = 8
)

// failure is what ends the program with an exit code.
type failure = act.Failure

func fail(code int, format string, args ...any) error { return act.Fail(code, format, args...) }

// run is one call of the program.
type run struct {
	*logger
	*act.Act
	command      string // as in the faults
	leaf         string // as the user calls it
	dir          string
	version      string
	skipPassword bool
	started      time.Time
	out          io.Writer
	opened       atomic.Pointer[logger] // the same log, for the goroutine that waits for signals
}

// Main runs the program and returns its exit code. Like the real installer it needs no terminal; where that would ask, it takes the
// end of the input for an answer.
func Main(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	command, err := act.New()
	if err != nil {
		fmt.Fprintf(stderr, "level=fatal msg=%s\n", err)
		return exitGeneric
	}
	r := &run{Act: command, version: release.VersionOf(args[0]), started: time.Now(), out: stdout}
	r.Failing, r.Log = failing, func(level, line string) {
		if log := r.opened.Load(); log != nil {
			log.say(level, "%s", line)
		}
	}
	ctx, interrupted, stop := r.Signals()
	defer stop()
	code := r.execute(ctx, args[1:], stdout, stderr)
	if interrupted() {
		code = Interrupted
	}
	if err := r.End(code); err != nil {
		fmt.Fprintf(stderr, "level=fatal msg=%s\n", err)
		return exitGeneric
	}
	return code
}

// execute runs the command and returns the exit code.
func (r *run) execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := r.commands(stderr)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if r.logger != nil {
		defer r.close()
	}
	var f *failure
	switch {
	case err == nil:
		return 0
	case errors.Is(err, act.ErrInterrupted):
		return Interrupted
	case !errors.As(err, &f):
		f = &failure{Code: exitGeneric, Message: err.Error()}
	}
	if r.logger == nil {
		fmt.Fprintf(stderr, "level=fatal msg=%s\n", f.Message)
	} else {
		r.say("error", "%s", f.Message)
	}
	return f.Code
}

func (r *run) commands(stderr io.Writer) *cobra.Command {
	var level string
	root := &cobra.Command{Use: "openshift-install", Short: "Creates OpenShift clusters (a stand-in: creates none)", SilenceUsage: true, SilenceErrors: true}
	root.PersistentFlags().StringVar(&r.dir, "dir", ".", "assets directory")
	root.PersistentFlags().StringVar(&level, "log-level", "info", `log level (e.g. "debug | info | warn | error")`)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fail(exitGeneric, "Error executing openshift-install: %s", err)
	})
	leaf := func(use, command string, do func(context.Context) error) *cobra.Command {
		return &cobra.Command{Use: use, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) (err error) {
			r.command, r.leaf = command, use
			if r.logger, err = newLogger(stderr, level, r.dir); err != nil {
				return err
			}
			r.opened.Store(r.logger)
			r.debug("OpenShift Installer %s", r.version)
			r.debug("Built from commit c805b240dc, as ocpctl's stand-in: nothing real is installed")
			return do(cmd.Context())
		}}
	}
	create := &cobra.Command{Use: "create", Short: "Create part of an OpenShift cluster"}
	cluster := leaf("cluster", "create", r.createCluster)
	cluster.Flags().BoolVar(&r.skipPassword, "skip-password-print", false, "Do not print the generated user password")
	create.AddCommand(leaf("manifests", "manifests", r.createManifests), leaf("ignition-configs", "ignition-configs", r.createIgnition), cluster)
	destroy := &cobra.Command{Use: "destroy", Short: "Destroy part of an OpenShift cluster"}
	destroy.AddCommand(leaf("cluster", "destroy", r.destroyCluster), leaf("bootstrap", "destroy-bootstrap", r.destroyBootstrap))
	waitFor := &cobra.Command{Use: "wait-for", Short: "Wait for install-time events"}
	waitFor.AddCommand(leaf("install-complete", "wait-for", r.waitForInstall), leaf("bootstrap-complete", "wait-for", r.waitForBootstrap))
	var keys []string
	bootstrap := leaf("bootstrap", "gather", func(ctx context.Context) error { return r.gatherBootstrap(ctx, keys) })
	version := &cobra.Command{Use: "version", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		_, err := fmt.Fprintf(r.out, "openshift-install %s\nbuilt from commit c805b240dc\nrelease image %s\nrelease architecture amd64\n"+
			"stand-in: ocpctl's scripted openshift-install; it installs nothing and speaks to this machine only\n", r.version, release.Image(r.version))
		return err
	}}
	root.AddCommand(create, destroy, waitFor, gathering(bootstrap, &keys), version)
	return root
}

// gathering returns the gather command with its flags, of which only the keys are used.
func gathering(bootstrap *cobra.Command, keys *[]string) *cobra.Command {
	bootstrap.Flags().StringSliceVar(keys, "key", nil, "Path to SSH private keys that should be used for authentication")
	bootstrap.Flags().String("bootstrap", "", "Hostname or IP of the bootstrap host")
	bootstrap.Flags().StringSlice("master", nil, "Hostnames or IPs of all control plane hosts")
	bootstrap.Flags().Bool("skipAnalysis", false, "Skip analysis of the gathered data")
	gather := &cobra.Command{Use: "gather", Short: "Gather debugging data for a given installation failure"}
	gather.AddCommand(bootstrap)
	return gather
}

// levels are ordered from the least to the most verbose.
var levels = []string{"fatal", "error", "warning", "info", "debug"}

// logger writes the real installer's two logs: standard error up to a level, without time and quotes, and the file in the install
// directory with everything.
type logger struct {
	mu     sync.Mutex
	stderr io.Writer
	level  int
	file   *os.File
	now    func() time.Time
}

func newLogger(stderr io.Writer, level, dir string) (_ *logger, err error) {
	defer must.Catch(&err)
	l := &logger{stderr: stderr, level: slices.Index(levels, strings.Replace(level, "warn", "warning", boolInt(level == "warn"))), now: time.Now}
	must.FailIf(l.level < 0, "invalid log-level: not a valid logrus Level: %q", level)
	must.Do(os.MkdirAll(dir, 0o750))
	file := must.Get(os.OpenFile(filepath.Join(dir, ".openshift_install.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644))
	l.file = file
	return l, nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (l *logger) close() { _ = l.file.Close() } // every line was written immediately

func (l *logger) say(level, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	message := fmt.Sprintf(format, args...)
	fmt.Fprintf(l.file, "time=%q level=%s msg=%q\n", l.now().UTC().Format(time.RFC3339), level, message)
	if slices.Index(levels, level) > l.level {
		return
	}
	for line := range strings.SplitSeq(message, "\n") {
		fmt.Fprintf(l.stderr, "level=%s msg=%s\n", level, line)
	}
}

func (l *logger) debug(format string, args ...any) { l.say("debug", format, args...) }
func (l *logger) info(format string, args ...any)  { l.say("info", format, args...) }
func (l *logger) warn(format string, args ...any)  { l.say("warning", format, args...) }
