// Package credentials hands out a cluster's credentials: its kubeconfig, and its kubeadmin password by break-glass. It makes
// one-time links and links people's accounts elsewhere to them. Every read is in the audit trail before it happens.
package credentials

import (
	"log/slog"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/store"
)

// Service implements these use cases. It is safe for concurrent use.
type Service struct {
	core      *app.Service
	store     *store.Store
	artifacts app.Artifacts
	ui        string
	openID    bool
	log       *slog.Logger
}

// New returns a Service with the configuration that core was made with.
func New(core *app.Service, c app.Config) *Service {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Service{core: core, store: c.Store, artifacts: c.Artifacts, ui: c.UI, openID: c.OpenID, log: log}
}
