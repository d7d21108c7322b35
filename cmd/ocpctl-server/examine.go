package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/doctor"
	"github.com/ocpctl/ocpctl/internal/dispatch/kubernetes"
)

const doctorCommand = "doctor"

// runDoctor checks everything that the server depends on. It fails if a check does.
func runDoctor(args []string, out, errs io.Writer) error {
	from, flags := settingsFlags(doctorCommand, errs)
	format := flags.String("o", "text", "the output format: text or json")
	readOnly := flags.Bool("read-only", false, "skip the checks that write: an object in the bucket, and a webhook that GitHub sends again")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not expected; ocpctl-server %s has flags only", flags.Arg(0), doctorCommand)
	}
	roles, err := config.ParseRoles(from.roles)
	if err != nil {
		return err
	}
	report, end := doctor.Text(out)
	switch *format {
	case "text":
	case "json":
		report, end = doctor.JSON(out)
	default:
		return fmt.Errorf("-o is %q; give text or json", *format)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	loaded, invalid := config.Read(from.path, os.Environ(), roles)
	failed := doctor.Run(ctx, doctor.Config{
		Settings: loaded, Invalid: invalid, Roles: roles, ReadOnly: *readOnly, Kubernetes: runnerPods(loaded.Config, invalid, roles),
	}, report)
	if err := end(); err != nil {
		return err
	}
	if failed > 0 {
		return errors.New("a check failed; see above for what to do")
	}
	return nil
}

// runnerPods returns what starts runner pods, for the role that does; nil if runners are local.
func runnerPods(cfg config.Config, invalid error, roles config.Roles) doctor.Kubernetes {
	if invalid != nil || cfg.Runner.Dispatch != config.DispatchKubernetes || !roles.Has(config.WorkerRole) {
		return nil
	}
	env, err := runnerEnvironment(cfg.Runner)
	if err != nil {
		return unreachable{err}
	}
	dispatcher, err := wireKubernetes(cfg, env)
	if err != nil {
		return unreachable{err}
	}
	return dispatcher
}

// unreachable is a Kubernetes API to which there is no way.
type unreachable struct{ err error }

// Access returns why.
func (u unreachable) Access(context.Context) (kubernetes.Access, error) {
	return kubernetes.Access{}, u.err
}
