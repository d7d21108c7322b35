// Package runner is the program in the pod: one try at creating, destroying, scaling or furnishing one cluster.
//
// It claims its attempt from the Status API, works through the phases, one file each, and tells a result. It must
// never change anything in a cloud before the server acknowledged the record of it, never go on once it was told to
// stop or its lease ran out, and never take an exit code for a count. It has cloud credentials and no database.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// Cloud is what a runner asks a cloud. Every method has its own timeouts.
type Cloud interface {
	// Account returns the id of the account our credentials belong to.
	Account(ctx context.Context) (string, error)
	// Preflight tells what stands in the way of an install.
	Preflight(ctx context.Context, t cloud.Target, zones, instanceTypes []string) ([]cloud.Problem, error)
	// Quotas measures every limit an install of the plan touches: limit, live usage, need. What could not be looked up says so.
	Quotas(ctx context.Context, t cloud.Target, plan cloud.Plan) ([]contract.Quota, error)
	// Verify counts once what is left; what could not be asked is a leftover.
	Verify(ctx context.Context, t cloud.Target) contract.Pass
	// Contested lists resources that a destroyer of the target would find and that carry another cluster's mark too.
	Contested(ctx context.Context, t cloud.Target) ([]cloud.Contested, error)
	// Sweep deletes by exact name what the installer leaves behind, and says what it deleted.
	Sweep(ctx context.Context, t cloud.Target) ([]string, error)
}

// Config is everything a runner is started with.
type Config struct {
	Server  string      // base URL of the private listener
	Attempt string      // id
	Token   secret.Text // of the attempt
	Pod     string      // who claims: pod uid, or host:pid:start time

	WorkDir    string // empty and ours alone; it will hold secrets
	Installers string // directory of <version>/openshift-install, ccoctl and oc
	Env        []string
	Keys       cloud.Keys // the cloud's, where the default chain has some that do not renew themselves

	Cloud   func(ctx context.Context, region string, keys cloud.Keys) (Cloud, error) // no keys: the default chain's
	HTTP    *http.Client
	Log     *slog.Logger
	Redact  *installer.Redactor
	Timings Timings
	Now     func() time.Time
}

// Timings are how patient a runner is. Zero fields take the value named here.
type Timings struct {
	Call          time.Duration // one call of the Status API: 10 s
	RetryMin      time.Duration // first wait before a call is repeated, doubling: 200 ms
	RetryMax      time.Duration // … up to: 5 s
	ClaimPatience time.Duration // how long a claim is repeated: 5 min
	Flush         time.Duration // log lines are sent at least this often: 1 s
	Farewell      time.Duration // how long a result is repeated once the lease is over or a signal came: 20 s
	StopWait      time.Duration // between SIGTERM to the installer and the end of its group: 70 s
	Save          time.Duration // how long S3 may be away before recording and configuring give up: 5 min
	LastSave      time.Duration // … and the snapshots taken at the very end: 30 s
	Restore       time.Duration // how long S3 may be away before a teardown goes on without it: 1 min
	UncleanPasses int           // verification passes that may count something before the attempt gives up: 5
	LogPoll       time.Duration // how often the installer's own log is looked at while it grows: 2 s
	FatalTimes    int           // an install that repeats a fatal line that often …: 5
	FatalOver     time.Duration // … over at least that long is stopped: 5 min
	Gather        time.Duration // how long the logs of a failed bootstrap are gathered: 10 min
	CCODelete     time.Duration // how long ccoctl may take to remove what it made: 10 min
	OC            time.Duration // one question to the cluster itself: 30 s
	Reach         time.Duration // how long its API may be away: 5 min
	Scale         time.Duration // how long workers may take to come and go: 30 min
	ScalePoll     time.Duration // the longest between two counts of them: 10 s
	Addons        time.Duration // how long all add-ons together may take: 30 min
	StuckTimes    int           // a destroyer that refuses the same resource that often and removes nothing else is stopped: 30, ten seconds apart
	BlockedTimes  int           // the same for a resource that AWS refuses to delete with DependencyViolation: 60, ten seconds apart
}

func (t Timings) orDefault() Timings {
	for _, each := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Call, 10 * time.Second}, {&t.RetryMin, 200 * time.Millisecond}, {&t.RetryMax, 5 * time.Second},
		{&t.ClaimPatience, 5 * time.Minute}, {&t.Flush, time.Second}, {&t.Farewell, 20 * time.Second},
		{&t.StopWait, 70 * time.Second}, {&t.Save, 5 * time.Minute}, {&t.LastSave, 30 * time.Second}, {&t.Restore, time.Minute},
		{&t.LogPoll, 2 * time.Second}, {&t.FatalOver, 5 * time.Minute}, {&t.Gather, 10 * time.Minute}, {&t.CCODelete, 10 * time.Minute},
		{&t.OC, 30 * time.Second}, {&t.Reach, 5 * time.Minute}, {&t.Scale, 30 * time.Minute}, {&t.ScalePoll, 10 * time.Second}, {&t.Addons, 30 * time.Minute},
	} {
		if *each.field == 0 {
			*each.field = each.value
		}
	}
	for _, each := range []struct {
		field *int
		value int
	}{{&t.UncleanPasses, 5}, {&t.FatalTimes, 5}, {&t.StuckTimes, 30}, {&t.BlockedTimes, 60}} {
		if *each.field == 0 {
			*each.field = each.value
		}
	}
	return t
}

// ErrFenced means that the attempt is not ours: another pod claimed it, or it is closed. Nothing more may be done.
var ErrFenced = errors.New("the attempt belongs to another runner or is closed")

// ErrUntold means that the attempt ended and the server could not be told.
var ErrUntold = errors.New("the result could not be delivered")

// Run makes the attempt. It returns nil when the server has its result, whatever that says; ErrFenced when the
// attempt is not ours, ErrUntold when the result lies in the spool at best. A context that ends stops the attempt
// politely: the installer is stopped, the install directory archived and the result told.
func Run(ctx context.Context, cfg Config) error {
	cfg.Timings = cfg.Timings.orDefault()
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.HTTP == nil {
		cfg.HTTP = http.DefaultClient
	}
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	api := newClient(cfg, stop)
	claimed, err := api.claim(ctx, contract.Claim{Pod: cfg.Pod})
	if err != nil {
		return fmt.Errorf("claim attempt %s: %w", cfg.Attempt, err)
	}
	cfg.Log = cfg.Log.With("cluster", claimed.Spec.Cluster, "job", claimed.Spec.Job, "attempt", cfg.Attempt)
	cfg.Log.Info("attempt claimed", "kind", claimed.Spec.Kind, "number", claimed.Spec.Number)

	say := startReporter(ctx, cfg, api, claimed.Spec.Heartbeat)
	defer say.stop()
	a := &attempt{cfg: cfg, spec: claimed.Spec, api: api, say: say}
	defer a.clean()
	result := a.work(work)
	cfg.Log.Info("attempt ended", "outcome", result.Outcome, "reason", result.Reason, "message", result.Message)
	return a.tell(ctx, work, result)
}
