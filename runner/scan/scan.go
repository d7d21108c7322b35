// Package scan is the program that looks through a whole cloud account for what may belong to a cluster.
//
// It claims a scan from the Status API, lists the account part by part and reports what each showed. It reads and never changes
// anything, judges nothing, and never takes an unanswered part for an empty one. A part is complete only when its last report was
// acknowledged, so another runner can go on with the same scan; it lists again what this one had begun. Like an attempt's runner it
// sends heartbeats, and ends when it is told to stop or its lease is over.
package scan

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/status"
)

// Inventory is what a scan needs of a cloud. Every method has its own timeouts, retries and rate limits.
type Inventory interface {
	// Account returns the id of the account that our credentials belong to.
	Account(ctx context.Context) (string, error)
	// Regions returns the regions that the account has enabled.
	Regions(ctx context.Context) ([]string, error)
	// Parts returns the names of everything there is to list for the regions, in a useful order.
	Parts(regions []string) []string
	// List lists one part, page by page. An error means that the part is incomplete; an error of emit ends it and is returned as it is.
	List(ctx context.Context, part string, emit func(page []contract.SeenResource) error) error
	// Calls returns how many calls were made, by service.
	Calls() map[string]int
	// CallsOf returns how many calls were made for a part.
	CallsOf(part string) int
	// Slowed returns how many calls the cloud throttled.
	Slowed() int
}

// Meter looks at an account as an attempt does before it creates anything.
type Meter interface {
	Preflight(ctx context.Context, t cloud.Target, zones, instanceTypes []string) ([]cloud.Problem, error)
	Quotas(ctx context.Context, t cloud.Target, plan cloud.Plan) ([]contract.Quota, error)
}

// OpenMeter opens a region of an account for a Meter.
type OpenMeter func(ctx context.Context, region string, keys cloud.Keys) (Meter, error)

// Open opens the account of a scan. Empty keys: what the platform's own chain finds.
type Open func(ctx context.Context, spec contract.ScanSpec, keys cloud.Keys) (Inventory, error)

// Config is everything that a scan's runner is started with.
type Config struct {
	Server string      // base URL of the private listener
	Scan   string      // id
	Token  secret.Text // of the scan
	Pod    string      // the claimant: pod uid, or host:pid:start time

	Clouds map[string]Open      // by platform, as a spec names it
	Meters map[string]OpenMeter // likewise

	HTTP    *http.Client
	Log     *slog.Logger
	Redact  Redactor
	Timings Timings
}

// Redactor removes secrets from texts.
type Redactor interface {
	Add(values ...secret.Text)
	Text(text string) string
}

// Timings are the time limits. Zero fields take the value given here.
type Timings struct {
	Call          time.Duration // timeout of one call of the Status API: 10 s
	RetryMin      time.Duration // first wait before a call is repeated, doubling with each try: 200 ms
	RetryMax      time.Duration // … up to: 5 s
	ClaimPatience time.Duration // how long a claim is repeated: 5 min
	Farewell      time.Duration // how long a result is repeated after the lease ended or a signal came: 20 s
}

func (t Timings) orDefault() Timings {
	return Timings{
		Call: cmp.Or(t.Call, 10*time.Second), RetryMin: cmp.Or(t.RetryMin, 200*time.Millisecond), RetryMax: cmp.Or(t.RetryMax, 5*time.Second),
		ClaimPatience: cmp.Or(t.ClaimPatience, 5*time.Minute), Farewell: cmp.Or(t.Farewell, 20*time.Second),
	}
}

// What the server leaves open in a specification.
const (
	usualHeartbeat = 15 * time.Second
	usualRate      = 5
)

// Run runs the scan. It returns nil if the server has its result, whatever that is; status.ErrFenced if the scan is not ours,
// status.ErrUntold if the result could not be delivered. Ending the context stops the scan; another runner can go on with it.
func Run(ctx context.Context, cfg Config) error {
	cfg.Timings = cfg.Timings.orDefault()
	cfg.HTTP = cmp.Or(cfg.HTTP, http.DefaultClient)
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	api := status.New(status.Config{
		URL:   strings.TrimSuffix(cfg.Server, "/") + "/api/v1/status/scans/" + cfg.Scan + "/",
		Token: cfg.Token, HTTP: cfg.HTTP, Log: cfg.Log, Stop: stop,
		Call: cfg.Timings.Call, RetryMin: cfg.Timings.RetryMin, RetryMax: cfg.Timings.RetryMax,
	})
	spec, err := claimScan(ctx, cfg, api)
	if err != nil {
		return fmt.Errorf("claim scan %s: %w", cfg.Scan, err)
	}
	cause := tracing.Cause{Correlation: spec.Correlation, Traceparent: spec.Traceparent}
	ctx, work = tracing.With(ctx, cause), tracing.With(work, cause)
	work, span := tracing.Start(work, tracing.Internal, "scan", "ocpctl.scan", cfg.Scan)
	defer span.End()
	cfg.Log = tracing.Logger(work, cfg.Log.With("scan", cfg.Scan))
	api.SetLog(cfg.Log)
	cfg.Log.Info("scan claimed", "account", spec.Account, "done", len(spec.Done), "proof", spec.Proof)

	s := &scan{cfg: cfg, spec: spec, api: api}
	result := s.runScan(work)
	if result.Outcome != succeeded {
		span.Fail(result.Reason) // not the message: it may say what the cloud answered
	}
	cfg.Log.Info("scan ended", "outcome", result.Outcome, "reason", result.Reason, "message", result.Message)
	return s.deliverResult(ctx, work, result)
}

func claimScan(ctx context.Context, cfg Config, api *status.Client) (contract.ScanSpec, error) {
	patience := time.Now().Add(cfg.Timings.ClaimPatience)
	var out contract.ClaimedScan
	sent, err := api.Ask(ctx, "claim", contract.Claim{Pod: cfg.Pod}, &out, func() bool { return time.Now().After(patience) })
	if err != nil {
		return out.Spec, err
	}
	api.Heed(sent, out.Answer)
	out.Spec.Heartbeat = cmp.Or(out.Spec.Heartbeat, usualHeartbeat)
	out.Spec.CallsPerSecond = cmp.Or(out.Spec.CallsPerSecond, usualRate)
	return out.Spec, nil
}
