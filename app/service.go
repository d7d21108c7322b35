package app

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/pullrequests"
	"github.com/ocpctl/ocpctl/store/scans"
)

// ErrUnreadable says that GitHub answered and that the requested content cannot be read there, whoever asks: a person has to fix
// that.
var ErrUnreadable = errors.New("it cannot be read")

// ErrNoPullRequest says that GitHub answered and that it shows us no such pull request. Like ErrRefused, it may pass within minutes.
var ErrNoPullRequest = errors.New("no such pull request")

// ErrRefused says that GitHub answered 401, 403 or 404. It may do so for minutes about what is right; if it continues, a person has to
// change something, for example the App's installation. What depends on the answer is tried again for a while.
var ErrRefused = errors.New("GitHub refuses to answer")

// IsRefused reports whether GitHub answered, and refused what was asked: ErrRefused or ErrNoPullRequest.
func IsRefused(err error) bool {
	return errors.Is(err, ErrRefused) || errors.Is(err, ErrNoPullRequest)
}

// GitHub is what the service asks GitHub when it decides.
type GitHub interface {
	// Permission returns an account's permission on the repository: admin, maintain, write, triage, read or none. It may return
	// ErrRefused, or ErrOtherAccount: the login is another account's by now.
	Permission(ctx context.Context, installation int64, repo string, who GitHubAccount) (string, error)
	// AccountID returns the number of the account that has a login now; 0: nobody has it. It may return ErrRefused.
	AccountID(ctx context.Context, installation int64, login string) (int64, error)
	// Login returns the current login of an account; empty: there is no such account any more. It may return ErrRefused.
	Login(ctx context.Context, installation int64, account int64) (string, error)
	// PullRequest returns the current pull request, or ErrNoPullRequest.
	PullRequest(ctx context.Context, installation int64, repo string, number int) (pullrequests.PullRequest, error)
	// RepositoryFile returns .github/ocpctl.yaml at a branch or commit; found is false if there is none. ErrUnreadable: it is
	// not a file. It may return ErrRefused.
	RepositoryFile(ctx context.Context, installation int64, repo, ref string) (raw []byte, found bool, err error)
	// RemovesRepositoryFile reports whether a pull request deletes .github/ocpctl.yaml.
	RemovesRepositoryFile(ctx context.Context, installation int64, repo string, number int) (bool, error)
	// Teams returns those of the named teams (org/slug) that the login is a member of.
	Teams(ctx context.Context, installation int64, login string, teams []string) ([]string, error)
	// OwnLogin returns the App's own login, e.g. ocpctl[bot].
	OwnLogin(ctx context.Context) (string, error)
	// InstallationOf returns the App's installation on a repository; 0: it is not installed there. ErrUnreadable: GitHub does
	// not say.
	InstallationOf(ctx context.Context, repo string) (int64, error)
	// WorkflowRun returns the current state of a workflow run, with the environments for which its jobs wait. It may return ErrRefused: it was deleted, or we may not see it.
	WorkflowRun(ctx context.Context, installation int64, repo string, id int64) (WorkflowRun, error)
	// Repository returns the current state of a repository, by a name that it has or had. installation is one that reached it
	// before, and may be gone. ErrUnreadable: GitHub does not say.
	Repository(ctx context.Context, installation int64, repo string) (RepositoryState, error)
}

// RepositoryState is what GitHub says about a repository.
type RepositoryState struct {
	Installation int64  // of the App, through which it is reached; 0: none
	ID           int64  // GitHub's id of it; 0: it is not visible, and the fields below are empty
	Name         string // owner/name, its current name
	Archived     bool
}

// Artifacts reads objects from the bucket. Read takes a reference, e.g. s3://bucket/key.
type Artifacts interface {
	Read(ctx context.Context, ref string) ([]byte, error)
	// Stream passes the content of a snapshot of any size to use. An error: it is not what was stored.
	Stream(ctx context.Context, one artifacts.Snapshot, use func(io.Reader) error) error
}

// Keeper holds the catalogue and reloads it when its files changed.
type Keeper interface {
	Status() catalogue.Status
	Reload() (changed bool, err error)
}

// Config configures a service. Store, Catalogue, GitHub and Artifacts are required by the use cases that touch them.
type Config struct {
	Store         *store.Store
	Catalogue     func() catalogue.Catalogue               // the catalogue in force
	Keeper        Keeper                                   // nil: the catalogue never changes
	LoadCatalogue func(fs.FS) (catalogue.Catalogue, error) // reads another catalogue as the server would; nil: as the embedded one is read
	CatalogueIn   CatalogueHome                            // where the catalogue's files are edited; zero: it is not known
	Policy        policy.Settings
	GitHubIssuers []string     // of GitHub Actions, besides those whose addresses show it
	GitHubSite    string       // of the GitHub that the App belongs to, e.g. https://github.com; empty: there is no App
	JobIssuer     string       // of the tokens of that GitHub's jobs; empty: the one that its address shows
	Tekton        []string     // issuers of the Kubernetes clusters whose PipelineRuns are watched
	Repositories  []Repository // which repositories may request clusters, and who owns these; the first match counts
	GitHub        GitHub
	Artifacts     Artifacts
	Installs      Installs
	Accounts      func(context.Context) ([]scans.Wanted, error) // that are looked through for orphans
	RunnersIn     func(platform string) string                  // the account of a platform that runners use; nil or empty: it is not known
	SlackEmails   []string                                      // domains whose e-mail addresses, confirmed by Slack, count as identities; in lower case
	AccessMost    time.Duration                                 // how long a kubeconfig may be valid; zero: UsualAccess
	OpenID        bool                                          // readers sign in to consoles through the server, their OpenID provider; else with an account of the cluster's own
	UI            string                                        // base URL of the web pages, for links in messages, e.g. https://ocpctl.example.com
	Log           *slog.Logger
}

// CatalogueHome is the folder on GitHub in which the catalogue's files are edited.
type CatalogueHome struct {
	Repository string // owner/name; empty: it is not known
	Path       string // of the folder in it, without slashes around it; empty: the whole repository
}

// PathOf returns a catalogue file's path in the repository.
func (h CatalogueHome) PathOf(file string) string { return path.Join(h.Path, file) }

// FileOf returns the path that a file of the repository has in the catalogue; ok is false if it is outside.
func (h CatalogueHome) FileOf(name string) (file string, ok bool) {
	if h.Path == "" {
		return name, true
	}
	return strings.CutPrefix(name, h.Path+"/")
}

// Installs are the settings that are frozen into every cluster's spec at its acceptance.
type Installs struct {
	PullSecretRef string            // e.g. file:/run/secrets/pull-secret
	SSHKey        string            // public key for the nodes; empty: the public half of SSHKeyRef
	SSHKeyRef     string            // private key for debugging failed bootstraps; empty: none
	Releases      map[string]string // version → release image pinned by digest, for versions the installers' directory lacks
	Clouds        map[string]Cloud  // by platform
}

// Cloud is what differs between the clouds in a spec.
type Cloud struct {
	Account        string // the only one to work in; empty: the runner's own
	CredentialsRef string // the cloud's keys; empty: the runner's own identity
}

// Service implements the use cases. It is safe for concurrent use.
type Service struct {
	store      *store.Store
	catalogue  func() catalogue.Catalogue
	keeper     Keeper
	policy     policy.Settings
	repos      []Repository
	github     GitHub
	artifacts  Artifacts
	installs   Installs
	accessMost time.Duration // how long a kubeconfig may be valid
	ui         string
	site       string // of the App's GitHub; empty: there is none
	jobIssuer  string // of the tokens of its jobs
	tekton     []string
	log        *slog.Logger
	since      time.Time
	people     atomic.Pointer[string] // hash of the catalogue whose people the store knows
	resolved   atomic.Pointer[string] // hash of the catalogue whose logins are resolved to accounts, or unknown to GitHub
	shown      shownNames
	recorded   sync.Map // names of sign-ins that are written down, by principal
	advised    sync.Map // what pools follow that follow their claims, by name
	configs    profiles.InstallConfigs
}

// New returns a service.
func New(c Config) *Service {
	log := c.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if c.Catalogue == nil {
		c.Catalogue = func() catalogue.Catalogue { return catalogue.Catalogue{} } // nobody is allowed anything
	}
	return &Service{
		store: c.Store, catalogue: c.Catalogue, keeper: c.Keeper, policy: c.Policy, repos: c.Repositories,
		github: c.GitHub, artifacts: c.Artifacts, installs: c.Installs, accessMost: cmp.Or(c.AccessMost, UsualAccess), ui: c.UI, site: c.GitHubSite, jobIssuer: cmp.Or(c.JobIssuer, profiles.JobIssuer(c.GitHubSite)), tekton: c.Tekton, log: log, since: time.Now(),
	}
}

// ProfileNames returns the names of the profiles that anybody can request now, the default first.
func (s *Service) ProfileNames() []string {
	first := s.defaultProfile()
	var names []string
	if first != "" {
		names = append(names, first)
	}
	for _, p := range s.catalogue().All() {
		if p.Enabled && !p.AdminOnly && p.Name != first {
			names = append(names, p.Name)
		}
	}
	return names
}

func (s *Service) defaultProfile() string {
	p, _ := s.catalogue().Default() // policy refuses an empty name with a message
	return p.Name
}
