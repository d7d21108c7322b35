// Package credentials hands out what opens a cluster: its kubeconfig, and its kubeadmin password by break-glass. It makes the
// links that work once and links people's accounts elsewhere to them. Every reading is in the audit trail before it happens.
package credentials

import (
	"log/slog"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/store"
)

// Service hands them out. Safe for concurrent use.
type Service struct {
	core      *app.Service
	store     *store.Store
	artifacts app.Artifacts
	ui        string
	log       *slog.Logger
}

// New wires a Service with the configuration that the core was wired with.
func New(core *app.Service, c app.Config) *Service {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Service{core: core, store: c.Store, artifacts: c.Artifacts, ui: c.UI, log: log}
}
