// Command ocpctl-server is the control plane: it receives webhooks, decides about clusters, starts runners and posts to GitHub and
// Slack.
//
// One process has every role by default; -roles splits it, so that the internet-facing half has no cloud or GitHub credentials: hooks
// needs only PostgreSQL, api also the artifacts bucket, worker needs everything. "ocpctl-server render-install-config" starts
// nothing: it prints the install-config that a runner would get for a create request. "ocpctl-server validate-catalogue" starts
// nothing either: it reports everything that is wrong with a catalogue's folder. "ocpctl-server recover" is run once after the database was
// restored from a backup; see docs/backup.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/ocpctl/ocpctl/internal/buildinfo"
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

func run() error {
	if len(os.Args) > 1 && os.Args[1] == renderCommand {
		return render(os.Args[2:], os.Stdin, os.Stdout, os.Stderr)
	}
	if len(os.Args) > 1 && os.Args[1] == validateCommand {
		return validate(os.Args[2:], os.Stdout, os.Stderr)
	}
	if len(os.Args) > 1 && os.Args[1] == recoverCommand {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return recoverState(ctx, os.Args[2:], os.Stdout, os.Stderr)
	}
	path := flag.String("config", "ocpctl.yaml", "the configuration `file`; see docs/configuration.md")
	roleList := flag.String("roles", "hooks,api,worker", "the roles of this process, comma-separated: hooks, api, worker")
	migrate := flag.Bool("migrate", true, "update the database schema first")
	level := slog.LevelInfo
	flag.TextVar(&level, "log-level", slog.LevelInfo, "DEBUG, INFO, WARN or ERROR")
	show := flag.Bool("version", false, "print the version and exit")
	flag.Parse()
	if *show {
		fmt.Println(buildinfo.Read().Line("ocpctl-server"))
		return nil
	}
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is not a command; the commands are %s, %s and %s, and without a command the server starts", flag.Arg(0), renderCommand, validateCommand, recoverCommand)
	}

	roles, err := parseRoles(*roleList)
	if err != nil {
		return err
	}
	cfg, err := loadConfig(*path, roles)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	s, err := wire(ctx, cfg, roles, *migrate, log)
	if err != nil {
		return err
	}
	return s.serve(ctx)
}
