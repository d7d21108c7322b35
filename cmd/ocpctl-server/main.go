// Command ocpctl-server is the control plane: it receives webhooks, decides about clusters, starts runners and posts to GitHub and
// Slack.
//
// One process has every role by default; -roles splits it, so that the internet-facing half has no cloud or GitHub credentials: hooks
// needs only PostgreSQL, api also the artifacts bucket, worker needs everything.
//
// With a command it starts nothing: config prints the effective configuration, doctor checks everything that the server depends on,
// migrate updates the database's schema and ends, recover is run once after the database was restored from a backup
// (docs/backup.md), render-install-config prints the install-config that a runner would get for a create
// request, validate-catalogue reports everything that is wrong with a catalogue's folder, and refresh-prices takes prices from AWS's
// offer files into its price list.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ocpctl/ocpctl/cmd/ocpctl-server/internal/config"
	"github.com/ocpctl/ocpctl/internal/buildinfo"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/internal/tracing/export"
)

func main() {
	err := run()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ocpctl-server:", err)
		os.Exit(1)
	}
}

// commands are what ocpctl-server does instead of starting the server.
var commands = map[string]func(args []string, in io.Reader, out, errs io.Writer) error{
	renderCommand:   renderInstallConfig,
	validateCommand: func(args []string, _ io.Reader, out, errs io.Writer) error { return validateCatalogue(args, out, errs) },
	showCommand:     func(args []string, _ io.Reader, out, errs io.Writer) error { return showConfig(args, out, errs) },
	doctorCommand:   func(args []string, _ io.Reader, out, errs io.Writer) error { return runDoctor(args, out, errs) },
	recoverCommand:  func(args []string, _ io.Reader, out, errs io.Writer) error { return recoverState(args, out, errs) },
	pricesCommand:   func(args []string, _ io.Reader, out, errs io.Writer) error { return refreshPrices(args, out, errs) },
	migrateCommand:  func(args []string, _ io.Reader, out, errs io.Writer) error { return migrateDatabase(args, out, errs) },
}

func run() error {
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		return commands[os.Args[1]](os.Args[2:], os.Stdin, os.Stdout, os.Stderr)
	}
	var from settings
	from.registerFlags(flag.CommandLine)
	migrates, err := strconv.ParseBool(fromEnvironment(config.MigrateVariable, "true"))
	if err != nil {
		return fmt.Errorf("%s is %q; give true or false", config.MigrateVariable, os.Getenv(config.MigrateVariable))
	}
	migrate := flag.Bool("migrate", migrates, "update the database schema first")
	level := slog.LevelInfo
	if err := level.UnmarshalText([]byte(fromEnvironment(config.LogLevelVariable, "INFO"))); err != nil {
		return fmt.Errorf("%s: %w; give DEBUG, INFO, WARN or ERROR", config.LogLevelVariable, err)
	}
	flag.TextVar(&level, "log-level", level, "DEBUG, INFO, WARN or ERROR")
	version := flag.Bool("version", false, "print the version and exit")
	flag.Parse()
	if *version {
		fmt.Println(buildinfo.Read().Line("ocpctl-server"))
		return nil
	}
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is not a command; the commands are %s, and without a command the server starts", flag.Arg(0),
			strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
	}
	roles, err := config.ParseRoles(from.roles)
	if err != nil {
		return err
	}
	cfg, err := config.Load(from.path, roles)
	if err != nil {
		return err
	}
	log := slog.New(tracing.Log(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flush, err := export.Start(ctx, "ocpctl-server", buildinfo.Read().Version, log)
	if err != nil {
		return err
	}
	defer flush()
	s, err := wireServer(ctx, cfg, roles, *migrate, log)
	if err != nil {
		return err
	}
	return s.serveUntilDone(ctx)
}
