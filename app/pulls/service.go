// Package pulls makes the clusters of pull requests follow what people do on GitHub: labels, comments, check buttons, pushes,
// workflow dispatches, and changes of pull requests and repositories. It reads the event, finds out who acts, and calls package
// app.
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

// Service handles GitHub's events about pull requests. It is safe for concurrent use.
type Service struct {
	core        *app.Service
	credentials *credentials.Service
	store       *store.Store
	catalogue   func() catalogue.Catalogue
	policy      policy.Settings
	github      app.GitHub
	home        string // repository of the catalogue's files, owner/name; empty: it is not known
	ui          string
	log         *slog.Logger
	strangers   *strangers
}

// New returns a Service with the configuration that core was made with.
func New(core *app.Service, links *credentials.Service, c app.Config) *Service {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		core: core, credentials: links, store: c.Store, catalogue: c.Catalogue, policy: c.Policy, github: c.GitHub, home: c.CatalogueIn.Repository, ui: c.UI, log: log, strangers: newStrangers(time.Now),
	}
}
