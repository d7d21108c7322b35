package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/store"
)

const migrateCommand = "migrate"

// migrateDatabase updates the database's schema and ends. It needs only database_url_ref in its file, so that an installation can run
// it before anything else is configured.
func migrateDatabase(args []string, out, errs io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet("ocpctl-server "+migrateCommand, flag.ContinueOnError)
	flags.SetOutput(errs)
	path := flags.String("config", "ocpctl.yaml", "the configuration `file`; only database_url_ref is used")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s takes no arguments, and %q is one; give the file with -config", migrateCommand, flags.Arg(0))
	}
	loaded, err := config.Read(*path, os.Environ(), nil)
	if err != nil {
		return err
	}
	if secret.Check(loaded.Config.DatabaseURLRef) != nil {
		return fmt.Errorf("%s: database_url_ref is not a reference; give one to a postgres:// URL, such as file:/path", *path)
	}
	url, err := loaded.Config.Secret(ctx, "database_url_ref", loaded.Config.DatabaseURLRef)
	if err != nil {
		return err
	}
	if err := store.Migrate(ctx, url.Reveal()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "the database's schema is up to date")
	return err
}
