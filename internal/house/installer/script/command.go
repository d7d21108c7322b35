// Package script is the stand-in installer's behaviour: its commands, its files, its log lines and its exit codes, after
// openshift-install 4.20. What it does in the cloud is in package resources.
package script

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/internal/house/installer"
)

// The real one's exit codes (cmd/openshift-install/command/waitfor.go and create.go there).
const (
	exitGeneric        = 1
	exitConfig         = 3
	exitInfrastructure = 4
	exitBootstrap      = 5
	exitInstall        = 6
	exitUnstable       = 7
	exitInterrupted    = 8
)

// failure ends the program with a code; its message becomes an error line.
type failure struct {
	code    int
	message string
}

func (f *failure) Error() string { return f.message }

func fail(code int, format string, args ...any) error {
	return &failure{code: code, message: fmt.Sprintf(format, args...)}
}

// run is one call of the program.
type run struct {
	*logger
	command      string // as the faults name it
	dir          string
	version      string
	pace         time.Duration
	faults       string
	skipPassword bool
	cluster      string // name, once known
	started      time.Time
	out          io.Writer
	opened       atomic.Pointer[logger] // the same log, for the goroutine that waits for signals
}

// Main runs the program and returns its exit code. Like the real one it needs no terminal; where that would ask, it takes
// the end of input for an answer.
func Main(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	r := &run{version: versionOf(args[0]), faults: os.Getenv(installer.FaultsVariable), pace: 400 * time.Millisecond, started: time.Now(), out: stdout}
	if raw := os.Getenv(installer.PaceVariable); raw != "" {
		pace, err := time.ParseDuration(raw)
		if err != nil {
			fmt.Fprintf(stderr, "level=fatal msg=%s: %s\n", installer.PaceVariable, err)
			return exitGeneric
		}
		r.pace = pace
	}
	ctx, interrupted, stop := r.signals()
	defer stop()

	root := r.commands(stderr)
	root.SetArgs(args[1:])
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if r.logger != nil {
		defer r.close()
	}
	var f *failure
	switch {
	case interrupted():
		return exitInterrupted
	case err == nil:
		return 0
	case !errors.As(err, &f):
		f = &failure{code: exitGeneric, message: err.Error()}
	}
	if r.logger == nil {
		fmt.Fprintf(stderr, "level=fatal msg=%s\n", f.message)
	} else {
		r.say("error", "%s", f.message)
	}
	return f.code
}

// signals makes the first signal end the context and the second the program.
func (r *run) signals() (ctx context.Context, interrupted func() bool, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var came atomic.Bool
	received := make(chan os.Signal, 2)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, ok := <-received; !ok {
			return
		}
		came.Store(true)
		if log := r.opened.Load(); log != nil {
			log.warn("Received interrupt signal")
		}
		cancel()
		if _, ok := <-received; ok {
			os.Exit(exitGeneric)
		}
	}()
	return ctx, came.Load, func() { signal.Stop(received); close(received); cancel() }
}

func (r *run) commands(stderr io.Writer) *cobra.Command {
	var level string
	root := &cobra.Command{Use: "openshift-install", Short: "Creates OpenShift clusters (a stand-in: creates none)", SilenceUsage: true, SilenceErrors: true}
	root.PersistentFlags().StringVar(&r.dir, "dir", ".", "assets directory")
	root.PersistentFlags().StringVar(&level, "log-level", "info", `log level (e.g. "debug | info | warn | error")`)
	leaf := func(use, command string, do func(context.Context) error) *cobra.Command {
		return &cobra.Command{Use: use, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) (err error) {
			r.command = command
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
	destroy.AddCommand(leaf("cluster", "destroy", r.destroyCluster))
	version := &cobra.Command{Use: "version", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
		_, err := fmt.Fprintf(r.out, "openshift-install %s\nbuilt from commit c805b240dc\nrelease image %s\nrelease architecture amd64\n"+
			"stand-in: ocpctl's scripted openshift-install; it installs nothing and speaks to this machine only\n", r.version, releaseImage(r.version))
		return err
	}}
	root.AddCommand(create, destroy, version)
	return root
}

// versionOf reads the version from the folder the program was called in: one binary stands for all.
func versionOf(program string) string {
	folder := filepath.Base(filepath.Dir(program))
	if regexp.MustCompile(`^\d+\.\d+\.\d+([-.][0-9a-z.-]+)?$`).MatchString(folder) {
		return folder
	}
	return installer.Versions()[0]
}

func releaseImage(version string) string {
	return fmt.Sprintf("quay.io/openshift-release-dev/ocp-release@sha256:%x", sha256.Sum256([]byte("ocp-release:"+version+"-x86_64")))
}
