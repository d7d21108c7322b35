// Package slack does what people ask for in Slack, by calling package app, and answers the person who asked.
package slack

import (
	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/store"
)

// Service handles slash commands. It is safe for concurrent use.
type Service struct {
	core        *app.Service
	credentials *credentials.Service
	store       *store.Store
	ui          string
}

// New returns a Service with the configuration that core was made with.
func New(core *app.Service, links *credentials.Service, c app.Config) *Service {
	return &Service{core: core, credentials: links, store: c.Store, ui: c.UI}
}
