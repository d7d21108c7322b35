// Package runner is the program in the pod: one attempt to create, destroy, scale or configure one cluster, to put it to sleep or wake it, or to prepare it
// for whoever claimed it.
//
// It claims its attempt from the Status API, runs the phases, one file each, and reports a result. It must never change anything in a
// cloud before the server acknowledged the record of it, never go on once it was told to stop or its lease ran out, and never take an
// exit code for a count. It has cloud credentials and no database.
package runner

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/installer"
)

// Cloud is what a runner needs of a cloud. Every method has its own timeouts.
type Cloud interface {
	// Account returns the id of the account that our credentials belong to.
	Account(ctx context.Context) (string, error)
	// Preflight returns what would make an install fail.
	Preflight(ctx context.Context, t cloud.Target, zones, instanceTypes []string) ([]cloud.Problem, error)
	// Quotas measures every limit that an install of the plan touches: limit, current usage, need. A limit that could not be queried
	// says so.
	Quotas(ctx context.Context, t cloud.Target, plan cloud.Plan) ([]contract.Quota, error)
	// Verify counts once what is left; what could not be queried is a leftover.
	Verify(ctx context.Context, t cloud.Target) contract.Pass
	// Contested lists resources that a destroyer of the target would find but that also have another cluster's mark, or that only mention the
	// target in their name.
	Contested(ctx context.Context, t cloud.Target) ([]cloud.Contested, error)
	// Detach ends, before the destroyer runs, what nobody could tell to be the cluster's after it, and returns what it ended.
	Detach(ctx context.Context, t cloud.Target) ([]string, error)
	// Machines lists the cluster's machines, without those that are gone or going.
	Machines(ctx context.Context, t cloud.Target) ([]cloud.Machine, error)
	// SetRunning starts or stops machines, and does not wait for it. It changes nothing about those that are as they should be.
	SetRunning(ctx context.Context, t cloud.Target, ids []string, running bool) error
	// Remove deletes, by exact name, what the installer leaves behind, and returns what it deleted.
	Remove(ctx context.Context, t cloud.Target) ([]string, error)

	// Prepare makes what the installer and ccoctl expect to exist, under the recorded name. It takes what an earlier try made. groupID is
	// the id of the resource group; empty: the cloud has none.
	Prepare(ctx context.Context, t cloud.Target, name string) (groupID string, err error)
	// TagCredentials gives the target's tags to what ccoctl created under the newest recorded name: the roles with the given names, which have to
	// exist, and whatever else it makes in this cloud. What cannot have tags stays as it is. It may be repeated.
	TagCredentials(ctx context.Context, t cloud.Target, roles []string) error
	// LimitRoles limits the roles of the cluster to the cluster: those with the given names, which ccoctl created for operators, and those of its
	// nodes that exist. Boundary is the ARN of the permissions boundary for the nodes' roles; empty: none. It may be repeated.
	LimitRoles(ctx context.Context, t cloud.Target, roles []string, boundary string) error
	// Found returns what only the cloud tells about a cluster and its destroyer needs.
	Found(ctx context.Context, t cloud.Target) (names.Found, error)
	// Tag gives the tags to everything of the cluster that lacks them, where the installer cannot, and replaces those of tagkey.Claimant that have
	// another value. It returns to how many resources.
	Tag(ctx context.Context, t cloud.Target, tags map[string]string) (int, error)
}

// Source is how the runner gets at one kind of cloud.
type Source struct {
	Keys cloud.Keys // the runner's own, if it has some that do not renew themselves
	// Open makes no call yet. Empty keys: what the platform's own chain finds.
	Open func(ctx context.Context, region string, keys cloud.Keys) (Cloud, error)
}

// Config is everything that a runner is started with.
type Config struct {
	Server  string      // base URL of the private listener
	Attempt string      // id
	Token   secret.Text // of the attempt
	Pod     string      // the claimant: pod uid, or host:pid:start time

	WorkDir    string // empty and exclusive; it will contain secrets
	Installers string // directory of <version>/openshift-install, ccoctl and oc
	Env        []string
	Boundary   string // ARN of the permissions boundary of the roles that ccoctl creates; empty: none
	ImageCache string // directory with images of machines that runners share; empty: none

	Clouds       map[string]Source          // by platform, as a spec names it
	Provisioners map[string]OpenProvisioner // by the kind of cluster, for those that are made on hubs
	HTTP         *http.Client
	Log          *slog.Logger
	Redact       *installer.Redactor
	Timings      Timings
	Now          func() time.Time
}

// Timings are the runner's time limits and retry counts. Zero fields take the value given here.
type Timings struct {
	Call          time.Duration // timeout of one call of the Status API: 10 s
	RetryMin      time.Duration // first wait before a call is repeated, doubling with each try: 200 ms
	RetryMax      time.Duration // … up to: 5 s
	ClaimPatience time.Duration // how long a claim is repeated: 5 min
	Flush         time.Duration // log lines are sent at least this often: 1 s
	Farewell      time.Duration // how long a result is repeated after the lease ended or a signal came: 20 s
	StopWait      time.Duration // between SIGTERM to the installer and killing its processes: 70 s
	Save          time.Duration // how long S3 may be unreachable before recording and configuring give up: 5 min
	LastSave      time.Duration // the same for the last snapshots: 30 s
	Restore       time.Duration // how long S3 may be unreachable before a teardown goes on without it: 1 min
	UncleanPasses int           // verification passes that may find something before the attempt gives up: 5
	LogPoll       time.Duration // how often the growing installer log is read: 2 s
	FatalTimes    int           // an install that repeats a fatal line this often …: 5
	FatalOver     time.Duration // … over at least this time is stopped: 5 min
	Gather        time.Duration // limit for gathering the logs of a failed bootstrap: 10 min
	Render        time.Duration // limit for each command that only writes files: 10 min
	CCODelete     time.Duration // limit for ccoctl to remove what it created: 10 min
	OC            time.Duration // timeout of one query of the cluster itself: 30 s
	Reach         time.Duration // how long the cluster's API may be unreachable: 5 min
	Scale         time.Duration // limit for adding or removing workers: 30 min
	ScalePoll     time.Duration // longest time between two counts of workers: 10 s
	Addons        time.Duration // limit for all add-ons together: 30 min
	Login         time.Duration // how long the OAuth server may take to read changed accounts of the console: 8 min
	Health        time.Duration // how long a claimed cluster may take to be seen well: 2 min
	Power         time.Duration // limit for stopping or starting all machines and waiting until the cluster is well: 45 min
	StuckTimes    int           // a destroyer that refuses the same resource that often and removes nothing else is stopped: 30, ten seconds apart
	BlockedTimes  int           // the same for a refusal that may heal, such as DependencyViolation: 60, ten seconds apart
}

func (t Timings) orDefault() Timings {
	for _, each := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&t.Call, 10 * time.Second}, {&t.RetryMin, 200 * time.Millisecond}, {&t.RetryMax, 5 * time.Second},
		{&t.ClaimPatience, 5 * time.Minute}, {&t.Flush, time.Second}, {&t.Farewell, 20 * time.Second},
		{&t.StopWait, 70 * time.Second}, {&t.Save, 5 * time.Minute}, {&t.LastSave, 30 * time.Second}, {&t.Restore, time.Minute},
		{&t.LogPoll, 2 * time.Second}, {&t.FatalOver, 5 * time.Minute}, {&t.Gather, 10 * time.Minute}, {&t.CCODelete, 10 * time.Minute}, {&t.Render, 10 * time.Minute},
		{&t.OC, 30 * time.Second}, {&t.Reach, 5 * time.Minute}, {&t.Scale, 30 * time.Minute}, {&t.ScalePoll, 10 * time.Second}, {&t.Addons, 30 * time.Minute},
		{&t.Power, 45 * time.Minute}, {&t.Login, 8 * time.Minute}, {&t.Health, 2 * time.Minute},
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

// Run runs the attempt. It returns nil if the server has its result, whatever that is; status.ErrFenced if the attempt is not ours,
// status.ErrUntold if the result is at best in the spool. Ending the context stops the attempt gracefully: the installer is stopped, the
// install directory archived and the result reported.
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
	claimed, err := api.sendClaim(ctx, contract.Claim{Pod: cfg.Pod})
	if err != nil {
		return fmt.Errorf("claim attempt %s: %w", cfg.Attempt, err)
	}
	cause := tracing.Cause{Correlation: claimed.Spec.Correlation, Traceparent: claimed.Spec.Traceparent}
	cfg.Log = cfg.Log.With("cluster", claimed.Spec.Cluster, "job", claimed.Spec.Job, "attempt", cfg.Attempt)
	ctx, work = tracing.With(ctx, cause), tracing.With(work, cause)
	work, span := tracing.Start(work, tracing.Internal, "attempt "+claimed.Spec.Kind, "ocpctl.cluster", claimed.Spec.Cluster, "ocpctl.attempt", cfg.Attempt)
	defer span.End()
	cfg.Log = tracing.Logger(work, cfg.Log)
	cfg.Log.Info("attempt claimed", "kind", claimed.Spec.Kind, "number", claimed.Spec.Number)
	api.SetLog(cfg.Log)

	say := startReporter(tracing.With(ctx, tracing.Of(work)), cfg, api, claimed.Spec.Heartbeat)
	defer say.stopSending()
	a := &attempt{cfg: cfg, spec: claimed.Spec, api: api, say: say}
	defer a.removeWorkDir()
	result := a.runWork(work)
	if result.Outcome != succeeded {
		span.Fail(result.Reason) // not the message: it may say what the cloud answered
	}
	cfg.Log.Info("attempt ended", "outcome", result.Outcome, "reason", result.Reason, "message", result.Message)
	return a.deliverResult(ctx, work, result)
}
