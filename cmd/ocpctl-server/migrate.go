package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/ocpctl/ocpctl/store"
)

const migrateCommand = "migrate"

// migrateDatabase updates the database's schema and ends. It needs only database_url_ref in its file, so that an installation can run
// it before anything else is configured.
func migrateDatabase(ctx context.Context, args []string, out, errs io.Writer) error {
	flags := flag.NewFlagSet("ocpctl-server "+migrateCommand, flag.ContinueOnError)
	flags.SetOutput(errs)
	path := flags.String("config", "ocpctl.yaml", "the configuration `file`; only database_url_ref is used")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s takes no arguments, and %q is one; give the file with -config", migrateCommand, flags.Arg(0))
	}
	raw, err := os.ReadFile(*path)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	cfg, bad, _ := decode(raw)
	if !isRef(cfg.DatabaseURLRef) {
		bad = append(bad, errors.New("database_url_ref is not a reference; give one to a postgres:// URL, such as file:/path"))
	}
	if err := errors.Join(bad...); err != nil {
		return fmt.Errorf("%s:\n%w", *path, err)
	}
	url, err := cfg.secret(ctx, "database_url_ref", cfg.DatabaseURLRef)
	if err != nil {
		return err
	}
	if err := store.Migrate(ctx, url.Reveal()); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "the database's schema is up to date")
	return err
}
