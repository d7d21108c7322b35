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
)

const doctorCommand = "doctor"

// examine checks everything that the server depends on. It fails if a check does.
func examine(args []string, out, errs io.Writer) error {
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
	failed := doctor.Run(ctx, doctor.Config{Settings: loaded, Invalid: invalid, Roles: roles, ReadOnly: *readOnly}, report)
	if err := end(); err != nil {
		return err
	}
	if failed > 0 {
		return errors.New("a check failed; see above for what to do")
	}
	return nil
}
