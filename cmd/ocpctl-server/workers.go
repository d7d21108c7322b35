package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/ocpctl/ocpctl/app/hooks"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/controller"
	"github.com/ocpctl/ocpctl/runner/dispatch"
	"github.com/ocpctl/ocpctl/store"
)

// wireWorkers builds the half that acts: the inbox's worker and the controller.
func (in inner) wireWorkers(ctx context.Context) (*river.Client[pgx.Tx], error) {
	client, err := wireGitHub(ctx, in.cfg)
	if err != nil {
		return nil, err
	}
	engine, err := in.wireController(client)
	if err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	engine.Register(workers)
	river.AddWorker(workers, hooks.NewInboxWorker(in.store, in.desk(hooks.Asker{Client: client}), in.log))
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("ask for this host's name: %w", err)
	}
	instance, err := in.store.Instance(ctx, host)
	if err != nil {
		return nil, err
	}
	return store.NewClient(ctx, in.store.Pool(), workers, store.RiverConfig{
		Instance: instance, Periodic: engine.Periodic(),
		Logger: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), // River counts jobs at INFO
	})
}

func wireGitHub(ctx context.Context, cfg config) (*github.Client, error) {
	key, err := cfg.secret(ctx, "github.private_key_ref", cfg.GitHub.PrivateKeyRef)
	if err != nil {
		return nil, err
	}
	return github.New(github.Config{
		AppID: cfg.GitHub.AppID, PrivateKey: []byte(key.Reveal()), BaseURL: cfg.GitHub.APIURL, Pace: cfg.GitHub.Pace,
	})
}

func (in inner) wireController(client *github.Client) (*controller.Controller, error) {
	cfg := in.cfg
	processes, err := dispatch.NewProcess(dispatch.Config{
		Runner: cfg.Runner.Program, Installers: cfg.Runner.Installers, WorkDir: cfg.Runner.WorkDir, StatusURL: cfg.Runner.StatusURL,
	})
	if err != nil {
		return nil, err
	}
	return controller.New(controller.Config{
		Store: in.store, Dispatcher: processes, Poster: client, Spool: in.bucket, Signer: in.signer,
		Limits: cfg.Limits.lifecycle(), Sweeps: cfg.Limits.sweeps(), Links: chatops.Links{UI: cfg.UIURL}, Log: in.log,
		Wake: cfg.Limits.Wake, Sweep: cfg.Limits.Sweep, Keep: cfg.Limits.Keep,
	}), nil
}
