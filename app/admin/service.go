// Package admin is for platform admins and auditors: the catalogue in use, quotas and teams, the audit trail, deliveries,
// findings, orphans, usage and the labels of repositories.
package admin

import (
	"context"
	"io/fs"
	"time"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/scans"
)

// Service implements these use cases. It is safe for concurrent use.
type Service struct {
	core      *app.Service
	store     *store.Store
	catalogue func() catalogue.Catalogue
	keeper    app.Keeper
	home      app.CatalogueHome // of the catalogue's files
	github    app.GitHub
	accounts  func(context.Context) ([]scans.Wanted, error) // that are looked through; nil: none
	runnersIn func(platform string) string                  // the account that runners use; nil or empty: it is not known
	load      func(fs.FS) (catalogue.Catalogue, error)      // reads another catalogue as the server would; nil: as the embedded one is read
	issuers   []string                                      // of GitHub Actions, besides those whose addresses show it
	since     time.Time
}

// New returns a Service with the configuration that core was made with.
func New(core *app.Service, c app.Config) *Service {
	return &Service{core: core, store: c.Store, catalogue: c.Catalogue, keeper: c.Keeper, home: c.CatalogueIn, load: c.LoadCatalogue, github: c.GitHub, accounts: c.Accounts, runnersIn: c.RunnersIn, issuers: c.GitHubIssuers, since: time.Now()}
}
