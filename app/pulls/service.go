// Package pulls makes the clusters of pull requests follow what people do on GitHub: labels, comments, buttons of checks, pushes,
// dispatches of workflows, and what becomes of pull requests and repositories. It reads what happened, finds out who acts, and
// asks package app for what follows.
package pulls

import (
	"log/slog"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
)

// Service handles what GitHub tells of pull requests. Safe for concurrent use.
type Service struct {
	core        *app.Service
	credentials *credentials.Service
	store       *store.Store
	catalogue   func() catalogue.Catalogue
	policy      policy.Settings
	github      app.GitHub
	ui          string
	log         *slog.Logger
	strangers   *strangers
}

// New wires a Service with the configuration that the core was wired with.
func New(core *app.Service, links *credentials.Service, c app.Config) *Service {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		core: core, credentials: links, store: c.Store, catalogue: c.Catalogue, policy: c.Policy, github: c.GitHub, ui: c.UI, log: log, strangers: newStrangers(time.Now),
	}
}
