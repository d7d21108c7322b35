package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store"
)

// ErrUnreadable says that GitHub answered and what is asked for cannot be read there, whoever asks again: a person has to put
// that right.
var ErrUnreadable = errors.New("it cannot be read")

// ErrNoPullRequest says that GitHub answered and has no such pull request for us.
var ErrNoPullRequest = errors.New("no such pull request")

// ErrRefused says that GitHub answered and will refuse the same question until a person changes something, for example the App's
// installation.
var ErrRefused = errors.New("GitHub refuses to answer")

// GitHub is what the service asks GitHub at the moment it decides.
type GitHub interface {
	// Permission is the login's permission on the repository: admin, maintain, write, triage, read or none. ErrRefused: see there.
	Permission(ctx context.Context, installation int64, repo, login string) (string, error)
	// PullRequest is the pull request as it stands now, or ErrNoPullRequest.
	PullRequest(ctx context.Context, installation int64, repo string, number int) (store.PullRequest, error)
	// RepositoryFile is .github/ocpctl.yaml at a branch or commit; found is false where there is none. ErrUnreadable: it is no
	// file, or that place is not to be seen.
	RepositoryFile(ctx context.Context, installation int64, repo, ref string) (raw []byte, found bool, err error)
	// RemovesRepositoryFile reports whether a pull request deletes .github/ocpctl.yaml.
	RemovesRepositoryFile(ctx context.Context, installation int64, repo string, number int) (bool, error)
	// Teams are those of the named teams (org/slug) that the login is in.
	Teams(ctx context.Context, installation int64, login string, teams []string) ([]string, error)
	// OwnLogin is what the App itself is called where it acts, e.g. ocpctl[bot].
	OwnLogin(ctx context.Context) (string, error)
	// InstallationOf is the App's installation on a repository; 0: it is not installed there. ErrUnreadable: GitHub does not tell.
	InstallationOf(ctx context.Context, repo string) (int64, error)
	// Repository is how a repository stands now, by a name that it has or had. installation is one that reached it before, and may
	// be gone. ErrUnreadable: GitHub does not tell.
	Repository(ctx context.Context, installation int64, repo string) (RepositoryState, error)
}

// RepositoryState is what GitHub says of a repository.
type RepositoryState struct {
	Installation int64  // of the App, by which it is reached; 0: by none
	ID           int64  // GitHub's number of it; 0: nothing is to be seen of it, and the fields below are empty
	Name         string // owner/name as it is called now
	Archived     bool
}

// Artifacts reads objects of the bucket. Read takes a reference, e.g. s3://bucket/key.
type Artifacts interface {
	Read(ctx context.Context, ref string) ([]byte, error)
	// Stream hands the content of a snapshot of any size to use, and fails if it is not what was stored.
	Stream(ctx context.Context, one artifacts.Snapshot, use func(io.Reader) error) error
}

// Keeper keeps the catalogue and takes another when its files changed.
type Keeper interface {
	Status() catalogue.Status
	Reload() (changed bool, err error)
}

// Config wires a service. Store, Catalogue, GitHub and Artifacts are required by the use cases that touch them.
type Config struct {
	Store        *store.Store
	Catalogue    func() catalogue.Catalogue // the catalogue in force
	Keeper       Keeper                     // nil: the catalogue never changes
	Policy       policy.Settings
	Repositories []Repository // which repositories may ask, and whose their clusters are; the first match counts
	GitHub       GitHub
	Artifacts    Artifacts
	Runs         Runs
	UI           string // base address of the private pages, for links in words, e.g. https://ocpctl.example.com
	Log          *slog.Logger
}

// Runs are the settings frozen into every cluster's spec at acceptance.
type Runs struct {
	PullSecretRef string            // e.g. file:/run/secrets/pull-secret
	SSHKey        string            // public key for the nodes; empty: the public half of SSHKeyRef
	SSHKeyRef     string            // private key to look into failed bootstraps with; empty: none
	CloudCredsRef string            // the cloud's keys; empty: the runner's own identity
	Releases      map[string]string // version → release image pinned by digest, for versions the installers' directory lacks
	Account       string            // the only cloud account to work in; empty: the runner's own
}

// Service answers the doors. Safe for concurrent use.
type Service struct {
	store     *store.Store
	catalogue func() catalogue.Catalogue
	keeper    Keeper
	policy    policy.Settings
	repos     []Repository
	github    GitHub
	artifacts Artifacts
	runs      Runs
	ui        string
	log       *slog.Logger
	since     time.Time
	people    atomic.Pointer[string] // hash of the catalogue whose people the store knows
}

// New wires a service.
func New(c Config) *Service {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if c.Catalogue == nil {
		c.Catalogue = func() catalogue.Catalogue { return catalogue.Catalogue{} } // nothing is allowed to anybody
	}
	return &Service{
		store: c.Store, catalogue: c.Catalogue, keeper: c.Keeper, policy: c.Policy, repos: c.Repositories,
		github: c.GitHub, artifacts: c.Artifacts, runs: c.Runs, ui: c.UI, log: log, since: time.Now(),
	}
}

// profiles are the names that anybody can ask for now, the default first.
func (d *Service) ProfileNames() []string {
	first := d.defaultProfile()
	var names []string
	if first != "" {
		names = append(names, first)
	}
	for _, p := range d.catalogue().All() {
		if p.Enabled && !p.AdminOnly && p.Name != first {
			names = append(names, p.Name)
		}
	}
	return names
}

func (d *Service) defaultProfile() string {
	p, _ := d.catalogue().Default() // an empty name is refused by policy, in words
	return p.Name
}
