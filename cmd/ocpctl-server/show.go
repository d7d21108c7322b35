package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
)

const showCommand = "config"

// showConfig prints the effective configuration with the origin of each value, also of one that the server would refuse.
func showConfig(args []string, out, errs io.Writer) error {
	from, flags := settingsFlags(showCommand, errs)
	format := flags.String("o", "table", "the output format: table or yaml")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not expected; ocpctl-server %s has flags only", flags.Arg(0), showCommand)
	}
	roles, err := config.ParseRoles(from.roles)
	if err != nil {
		return err
	}
	loaded, invalid := config.Read(from.path, os.Environ(), roles)
	switch *format {
	case "table":
		err = loaded.WriteTable(out)
	case "yaml":
		err = loaded.WriteYAML(out)
	default:
		err = fmt.Errorf("-o is %q; give table or yaml", *format)
	}
	return errors.Join(err, invalid)
}

// settings are the flags that say which configuration a process uses, and for which roles.
type settings struct{ path, roles string }

// settingsFlags returns the flags of a command that reads the server's configuration.
func settingsFlags(command string, errs io.Writer) (*settings, *flag.FlagSet) {
	flags := flag.NewFlagSet("ocpctl-server "+command, flag.ContinueOnError)
	flags.SetOutput(errs)
	var from settings
	from.registerFlags(flags)
	return &from, flags
}

// registerFlags adds the flags to a set; an environment variable sets the default of -roles.
func (s *settings) registerFlags(flags *flag.FlagSet) {
	flags.StringVar(&s.path, "config", "ocpctl.yaml", "the configuration `file`; '' uses environment variables only; see docs/configuration.md")
	flags.StringVar(&s.roles, "roles", fromEnvironment(config.RolesVariable, "hooks,api,worker"),
		"the roles of this process, comma-separated: hooks, api, worker")
}

// fromEnvironment returns a variable's value, or what applies without it.
func fromEnvironment(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}
