// Package runs lets clusters end with the pipeline runs that asked for them: it handles GitHub's events about workflow runs and jobs,
// and asks GitHub and Tekton about each run regularly, because events get lost, and Tekton sends none.
//
// A payload is only a hint: it never ends a cluster while GitHub answers, and what it says of an older attempt never counts. The package
// must never conclude from silence that a run is over.
package runs

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/ocpctl/ocpctl/internal/tekton"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/runs"
)

// The answers of GitHub that are not a run.
var (
	// ErrNotFound says that GitHub answered and does not have it for the App.
	ErrNotFound = errors.New("GitHub does not have it")
	// ErrForbidden says that the App may not read the repository's Actions.
	ErrForbidden = errors.New("the App may not read it")
)

// State is a workflow run as GitHub returns it.
type State struct {
	RepoID     string
	Repo, Name string // owner/name; of the workflow
	Attempt    int    // the newest
	Completed  bool   // that attempt
	Conclusion string
	UpdatedAt  time.Time
}

// JobState is a job as GitHub returns it.
type JobState struct {
	Run        string
	Completed  bool
	Conclusion string
}

// GitHub is what the service asks.
type GitHub interface {
	// InstallationOf returns the App's installation that reaches a repository; 0: none does.
	InstallationOf(ctx context.Context, repo string) (int64, error)
	// Run returns the current state of a workflow run, ErrNotFound or ErrForbidden.
	Run(ctx context.Context, installation int64, repo, id string) (State, error)
	// Job returns the current state of a job by its check run's id, ErrNotFound or ErrForbidden.
	Job(ctx context.Context, installation int64, repo, id string) (JobState, error)
}

// Config configures the service.
type Config struct {
	Store  *store.Store
	GitHub GitHub
	Tekton *tekton.Client // of the clusters whose PipelineRuns are watched; nil: none
	Site   string         // of the GitHub that the App belongs to, e.g. https://github.com; runs elsewhere are not asked about
	Every  time.Duration  // how often a run is asked about
	Use    time.Duration  // the longest turn on a cluster
	Log    *slog.Logger
}

// Service handles what platforms say of their runs. It is safe for concurrent use.
type Service struct {
	store  *store.Store
	github GitHub
	tekton *tekton.Client
	site   string
	every  time.Duration
	use    time.Duration
	log    *slog.Logger
}

// New returns a service.
func New(c Config) *Service {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{store: c.Store, github: c.GitHub, tekton: c.Tekton, site: c.Site, every: c.Every, use: c.Use, log: c.Log}
}

// isOnOurGitHub reports whether a run is on the GitHub that the App belongs to. Numbers of runs and repositories are unique there alone.
func (s *Service) isOnOurGitHub(run runs.Run) bool {
	return policy.Claims{Issuer: run.Issuer}.GitHub(s.site) == s.site
}
