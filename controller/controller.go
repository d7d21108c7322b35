// Package controller runs the reconcile loop: it observes, asks lifecycle.Decide, has the store write the decision, and carries out
// the effects that the store wrote with it.
//
// It never decides anything itself, never writes a cluster's status, and does nothing outside that has no record in the store. All of
// its work is River jobs that are short, safe to repeat and safe to lose.
package controller

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	chat "github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/github"
	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/dispatch"
	"github.com/ocpctl/ocpctl/internal/token"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/lifecycle/breaker"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/outbox"
)

// Dispatcher starts, watches and stops runners. dispatch.Process runs them as local processes, kubernetes.Dispatcher in Jobs.
type Dispatcher interface {
	// Start ensures that the attempt's runner was started; repeating it changes nothing.
	Start(ctx context.Context, job dispatch.Job) error
	// Observe returns what is known about the attempt's runner.
	Observe(ctx context.Context, attempt string) (dispatch.Observation, error)
	// Living returns the numbers of the cluster's attempts whose runners are alive.
	Living(ctx context.Context, cluster string) ([]int, error)
	// Stop asks the runner once to end gracefully.
	Stop(ctx context.Context, attempt string) error
	// Kill ends the runner and everything that it started at once, if it did not end by itself.
	Kill(ctx context.Context, attempt string) error
	// Kept lists the attempts that left something behind.
	Kept(ctx context.Context) ([]string, error)
	// Forget removes what an attempt left behind after its runner ended.
	Forget(ctx context.Context, attempt string) error
}

// GitHub is the client of GitHub, github.Client. All of its writes may be repeated.
type GitHub interface {
	UpsertComment(ctx context.Context, to github.CommentTarget, body string) (int64, error)
	UpsertCheckRun(ctx context.Context, to github.CheckTarget, run chat.CheckRun) (int64, error)
	UpsertDeployment(ctx context.Context, to github.DeploymentTarget, d chat.Deployment) (int64, error)
	RemoveDeployments(ctx context.Context, installation int64, repo, environment string) (removed int, err error)
	React(ctx context.Context, installation int64, repo string, comment int64, content string) error
	MinimizeComment(ctx context.Context, installation int64, repo string, comment int64, classifier string) error
	AddLabel(ctx context.Context, installation int64, repo string, number int, label string) error
	RemoveLabel(ctx context.Context, installation int64, repo string, number int, label string) error
	EnsureLabels(ctx context.Context, installation int64, repo string, labels []chat.Label) (made, changed []string, err error)
	PullRequest(ctx context.Context, installation int64, repo string, number int) (github.PullRequest, error)
	PullsAt(ctx context.Context, installation int64, repo, sha string) ([]github.PullRequest, error)
	File(ctx context.Context, installation int64, repo, path, ref string) (github.File, error)
	Folder(ctx context.Context, installation int64, repo, folder, commit string) (map[string]string, error)
	Propose(ctx context.Context, installation int64, repo string, p github.Proposal) (number int, err error)
	ChangesBelow(ctx context.Context, installation int64, repo string, number int, folder string) (bool, error)
	InstallationOf(ctx context.Context, repo string) (int64, error)
	Run(ctx context.Context, installation int64, repo string, id int64) (github.Run, error)
	Dispatch(ctx context.Context, installation int64, repo, kind string, payload map[string]string) error
	Review(ctx context.Context, installation int64, repo string, run int64, r chat.Review) error
	Pending(ctx context.Context, installation int64, repo string, run int64) (environments []string, err error)
}

// Spool holds the reports of runners that could not reach the Status API.
type Spool interface {
	// Spooled returns the documents of one attempt in the order in which they were written.
	Spooled(ctx context.Context, attempt string) ([]artifacts.Document, error)
}

// Config is the controller's configuration.
type Config struct {
	Store         *store.Store
	Dispatcher    Dispatcher
	GitHub        GitHub
	Teller        SlackSender // nil: there are no answers in Slack
	Catalogue     Catalogue
	Changes       CatalogueChanges // nil: pull requests that change the catalogue are not checked
	CataloguePath string           // of the catalogue's folder in its repository
	Spool         Spool
	Remover       Remover
	Archives      Archives // nil: there is no bucket to compare with the database
	Cleanup       Cleanup  // of what scans find
	Pools         Pools    // nil: there are none
	Breaker       breaker.Limits
	Signer        *token.Signer
	Bucket        string // of the artifacts
	Installation  string // id of this installation
	Limits        lifecycle.Limits
	Hours         func(profile, team string, now time.Time) lifecycle.Hours // what the catalogue in force says; nil: no schedule is known
	FindingLimits lifecycle.FindingLimits
	Accounts      Accounts // that are looked through for orphans
	Links         chat.Links
	Log           *slog.Logger
	Wake          time.Duration    // how often due clusters are searched for
	FindEvery     time.Duration    // how often everything is checked for findings
	Keep          time.Duration    // how long logs, reports and processed deliveries are kept; zero: 30 days
	Retention     time.Duration    // how long a cluster's state is kept after its end; zero: 60 days
	Now           func() time.Time // nil: time.Now; only for tokens, everything else uses the database's clock

	RepositoryFile string        // path of the repository's file
	Pace           outbox.Pace   // of writes to GitHub; the GitHub client uses the same for its permission to write
	Progress       time.Duration // how often a check shows progress; zero: 5 minutes
	Settling       time.Duration // how long GitHub may not know what was just created; zero: 5 s, negative: not at all

	Wait func(context.Context, time.Duration) bool // waits for a turn; false: the context ended. nil: by a timer
}

const defaultSettling = 5 * time.Second

// Controller executes the jobs of this package.
type Controller struct{ Config }

// New returns a controller.
func New(cfg Config) *Controller {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Keep == 0 {
		cfg.Keep = defaultKeep
	}
	if cfg.Retention == 0 {
		cfg.Retention = defaultRetention
	}
	if cfg.Progress == 0 {
		cfg.Progress = defaultProgress
	}
	if cfg.Settling == 0 {
		cfg.Settling = defaultSettling
	}
	if cfg.Wait == nil {
		cfg.Wait = waitFor
	}
	return &Controller{cfg}
}

func waitFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// Register adds the controller's workers to the bundle of the River client.
func (c *Controller) Register(w *river.Workers) {
	river.AddWorker(w, &reconcileWorker{c: c})
	river.AddWorker(w, &launchWorker{c: c})
	river.AddWorker(w, &stopWorker{c: c})
	river.AddWorker(w, &publishWorker{c: c})
	river.AddWorker(w, &replyWorker{c: c})
	river.AddWorker(w, &effectWorker{c: c})
	river.AddWorker(w, &capacityQueueWorker{c: c})
	river.AddWorker(w, &turnsWorker{c: c})
	river.AddWorker(w, &poolsWorker{c: c})
	river.AddWorker(w, &breakersWorker{c: c})
	river.AddWorker(w, &wakeWorker{c: c})
	river.AddWorker(w, &findingsWorker{c: c})
	river.AddWorker(w, &runScansWorker{c: c})
	river.AddWorker(w, &launchScanWorker{c: c})
	river.AddWorker(w, &judgeScanWorker{c: c})
	river.AddWorker(w, &pruneWorker{c: c})
	river.AddWorker(w, &removeWorker{c: c})
	river.AddWorker(w, &archivesWorker{c: c})
	river.AddWorker(w, &cleanupWorker{c: c})
}
