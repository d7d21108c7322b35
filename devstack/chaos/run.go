package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// person is who asks for every cluster.
const person = "maya"

// profilesOn are the built-in profiles of clusters on each cloud. Most tests take the first, whose clusters sleep with all machines stopped;
// clusters of the second sleep without workers.
var profilesOn = map[string][]string{"aws": {"aws-minimal-test", "aws-standard"}, "ibmcloud": {"ibm-minimal-test", "ibm-standard"}, onHub: {"namespace"}, hosted: {"hcp-small"}}

// Config says where the stack's files are.
type Config struct {
	Dir string // state; created if missing, and must not be used by anything else
	Bin string // folder with the programs

	// Clouds are the platforms on which clusters are; empty: AWS. A crash matrix uses the first, a soak all of them.
	Clouds []string

	Pools    bool // clusters wait in pools, and are claimed by the soak's pull requests
	Replicas int  // servers behind a load balancer; 0: one
	// Kubernetes makes runners Jobs, see devstack.Config.
	Kubernetes bool
	Real       string // a folder with real programs, see devstack.Config
	Old        string // an older release for the first of them, see devstack.Config

	Out io.Writer
}

// Run is a stack with everything that a chaos test needs.
type Run struct {
	*devstack.Stack
	clouds []string
	out    io.Writer
	pool   *pgxpool.Pool
	board  *board
	trace  *trace
	status *gate          // runners' calls to the Status API
	s3     *gate          // all calls to S3
	hub    *gate          // changes on the hub; nil: there is none
	later  sync.WaitGroup // what is still to be done to a cluster that is on its way
	refill func()         // gives back what was used of GitHub's limit
	stop   context.CancelFunc
}

// The time settings of the stack. Attempts are retried after more time than an outage lasts, so that one outage costs one try;
// everything else is as fast as possible, without a gap between verification passes.
const (
	lease      = 12 * time.Second
	leaseGrace = time.Second
	retryBase  = 2 * time.Second
	// githubHour is the length of an hour of GitHub's limits in a test. Clusters live for a minute instead of hours, so an hour's limit
	// would be used up within minutes.
	githubHour = 5 * time.Minute
	// missedEvery is how often webhooks are requested again that were lost with a server.
	missedEvery = 5 * time.Second
)

// Start starts a stack whose time is as fast as possible.
func Start(ctx context.Context, cfg Config) (t *Run, err error) {
	if len(cfg.Clouds) == 0 {
		cfg.Clouds = []string{"aws"}
	}
	for _, cloud := range cfg.Clouds {
		if len(profilesOn[cloud]) == 0 {
			return nil, fmt.Errorf("there is no cloud %q; give aws, ibmcloud, kubernetes or hypershift", cloud)
		}
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	stack := devstack.Config{
		Dir: dir, Bin: cfg.Bin, Replicas: cfg.Replicas, Old: cfg.Old, Kubernetes: cfg.Kubernetes, Real: cfg.Real, Fast: true,
		Grace: 500 * time.Millisecond, Pace: time.Nanosecond, VerifyGap: time.Nanosecond,
		Lease: lease, LeaseGrace: leaseGrace, RetryBase: retryBase, LookAgain: time.Second, Heartbeat: 2 * time.Second,
		CommentPace: 50 * time.Millisecond, Deliveries: missedEvery,
	}
	stack.Hubs, stack.Pools = slices.ContainsFunc(cfg.Clouds, isOnHub), cfg.Pools
	trail := stack.Shared("trace")
	stack.Env = []string{installer.TraceVariable + "=" + trail}
	h, err := devstack.Start(ctx, stack)
	if err != nil {
		return nil, err
	}
	limits := github.DocumentedLimits()
	limits.Hour = githubHour
	h.GitHub.SetLimits(limits)
	ctx, stop := context.WithCancel(ctx)
	t = &Run{Stack: h, clouds: cfg.Clouds, out: cfg.Out, stop: stop}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Stop())
			t = nil
		}
	}()
	if t.pool, err = pgxpool.New(ctx, h.DatabaseURL()); err != nil {
		return t, err
	}
	t.board, t.trace = watchBoard(ctx, t.pool), followTrace(ctx, trail)
	return t, nil
}

// openGates puts gates into both connections, behind the Cuts.
func (t *Run) openGates() (err error) {
	defer must.Catch(&err)
	t.status = must.Get(startGate(t.PrivateURL(), t.statusCall))
	t.s3 = must.Get(startGate(t.Stack.S3.URL(), t.s3Call))
	t.Status.Lead(t.status.addr)
	t.S3Cut.Lead(t.s3.addr)
	if t.Hub != nil {
		t.openHub()
	}
	return nil
}

// Stop ends the stack and everything around it.
func (t *Run) Stop() error {
	err := errors.Join(installer.WriteFaults(t.Faults(), nil), t.Stack.Stop())
	for _, g := range []*gate{t.status, t.s3} {
		if g != nil {
			g.close()
		}
	}
	t.stop()
	if t.board != nil {
		<-t.board.done
		<-t.trace.done
	}
	if t.pool != nil {
		t.pool.Close()
	}
	return err
}

func (t *Run) say(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

// label requests a cluster on the first cloud.
func (t *Run) label() string { return "ocp/" + profilesOn[t.clouds[0]][0] }

// nameOf returns the name of a pull request's first cluster.
func nameOf(pr int) string { return fmt.Sprintf("pr%d-shop", pr) }

// sleep waits, or ends with the context.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
