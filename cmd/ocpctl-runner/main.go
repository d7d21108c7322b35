// Command ocpctl-runner runs one attempt for one cluster, or looks through one cloud account in a scan. ocpctl-server starts it, as a
// local process or in a pod of its own; it is never started by hand.
//
// Its exit code says whether the server has the result, not what that is: 0 delivered, 1 not delivered, 2 wrong usage, 3 the attempt or
// scan belongs to another runner or is closed.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/internal/buildinfo"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/internal/tracing/export"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/aws"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/inventory"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/scan"
	"github.com/ocpctl/ocpctl/runner/status"
)

const (
	exitUntold = 1
	exitUsage  = 2
	exitFenced = 3
)

// errUsage marks what a retry cannot fix: the command line or the files that it names.
var errUsage = errors.New("usage")

func main() { os.Exit(exitCode(run())) }

func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, status.ErrFenced):
		return exitFenced
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	fmt.Fprintln(os.Stderr, err)
	return exitUntold
}

// flags say which server to use, what to do and where to work. A pod gets its token as a mounted file.
type flags struct{ server, attempt, scan, tokenFile, workDir, installers string }

func run() error {
	// The first SIGTERM stops the work gracefully; further ones change nothing. Only the host sends SIGKILL.
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	var f flags
	cmd := &cobra.Command{
		Use: "ocpctl-runner", Short: "Make one attempt at creating or destroying one cluster, or look through one cloud account",
		Version: buildinfo.Read().Version, Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return startRunner(cmd.Context(), f) },
	}
	cmd.SetVersionTemplate(buildinfo.Read().Line("ocpctl-runner") + "\n")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	for _, each := range []struct {
		into        *string
		name, usage string
	}{
		{&f.server, "server", "base URL of the Status API"},
		{&f.tokenFile, "token-file", "file that holds the token of the attempt or scan"},
		{&f.attempt, "attempt", "id of the attempt"},
		{&f.workDir, "work-dir", "empty directory to work in (attempt)"},
		{&f.installers, "installers", "directory of <version>/openshift-install, ccoctl and oc (attempt)"},
		{&f.scan, "scan", "id of the scan, instead of an attempt"},
	} {
		cmd.Flags().StringVar(each.into, each.name, "", each.usage)
	}
	return cmd.ExecuteContext(ctx)
}

// checkFlags returns what is wrong with the flags. A flag that would do nothing is refused.
func (f flags) checkFlags() error {
	if (f.attempt == "") == (f.scan == "") {
		return fmt.Errorf("%w: --attempt is %q and --scan is %q; give one of them", errUsage, f.attempt, f.scan)
	}
	for _, each := range []struct {
		name, value string
		wanted      bool
	}{
		{"server", f.server, true}, {"token-file", f.tokenFile, true}, {"work-dir", f.workDir, f.attempt != ""}, {"installers", f.installers, f.attempt != ""},
	} {
		switch {
		case each.wanted && each.value == "":
			return fmt.Errorf("%w: --%s is missing", errUsage, each.name)
		case !each.wanted && each.value != "":
			return fmt.Errorf("%w: --%s is only for an attempt; omit it", errUsage, each.name)
		}
	}
	return nil
}

// runtime is what attempts and scans are both given.
type runtime struct {
	token  secret.Text
	pod    string
	http   *http.Client
	log    *slog.Logger
	redact *installer.Redactor
}

func startRunner(ctx context.Context, f flags) error {
	if err := f.checkFlags(); err != nil {
		return err
	}
	token, err := secret.Lookup(ctx, "file:"+f.tokenFile)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	pod, err := podName()
	if err != nil {
		return err
	}
	redact := installer.NewRedactor()
	redact.Add(token)
	for _, key := range export.Secrets(os.Getenv) {
		redact.Add(secret.New(key))
	}
	keys, err := awsKeys(ctx, redact)
	if err != nil {
		return err
	}
	maskIBM(os.Environ(), redact)
	lines := redact.Lines(func(line string) { fmt.Fprintln(os.Stdout, line) })
	defer lines.Close()
	log := slog.New(tracing.Log(slog.NewJSONHandler(lines, nil)))
	flush, err := export.Start(ctx, "ocpctl-runner", buildinfo.Read().Version, log)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	defer flush()
	client, err := newStatusClient(os.Getenv("OCPCTL_STATUS_CA"))
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	given := runtime{token: token, pod: pod, http: client, log: log, redact: redact}
	if f.scan != "" {
		err = given.runScan(ctx, f)
	} else {
		err = given.runAttempt(ctx, f, keys)
	}
	if err != nil {
		return seemly{err, redact.Text(err.Error())}
	}
	return nil
}

func (r runtime) runAttempt(ctx context.Context, f flags, keys cloud.Keys) error {
	return runner.Run(ctx, runner.Config{
		Server: f.server, Attempt: f.attempt, Token: r.token, Pod: r.pod, WorkDir: f.workDir, Installers: f.installers,
		Env: os.Environ(), Boundary: os.Getenv("OCPCTL_PERMISSIONS_BOUNDARY"), ImageCache: os.Getenv("OCPCTL_IMAGE_CACHE"), HTTP: r.http, Log: r.log, Redact: r.redact,
		Clouds: map[string]runner.Source{
			names.AWS:      {Keys: keys, Open: openAWS},
			names.IBMCloud: {Open: openIBMCloud},
		},
		Provisioners: map[string]runner.OpenProvisioner{kinds.HyperShift: openHyperShift, kinds.Namespace: openNamespace},
	})
}

// runScan leaves the keys of the default chain to the SDK, which renews them.
func (r runtime) runScan(ctx context.Context, f flags) error {
	return scan.Run(ctx, scan.Config{
		Server: f.server, Scan: f.scan, Token: r.token, Pod: r.pod, HTTP: r.http, Log: r.log, Redact: r.redact,
		Clouds: map[string]scan.Open{names.AWS: openAWSInventory, names.IBMCloud: openIBMInventory, names.Kubernetes: openHubInventory},
		Meters: map[string]scan.OpenMeter{names.AWS: meterOf(openAWS), names.IBMCloud: meterOf(openIBMCloud), names.Kubernetes: openHubMeter},
	})
}

// meterOf opens a cloud as an attempt does, to measure its limits.
func meterOf(open func(context.Context, string, cloud.Keys) (runner.Cloud, error)) scan.OpenMeter {
	return func(ctx context.Context, region string, keys cloud.Keys) (scan.Meter, error) {
		return open(ctx, region, keys)
	}
}

// seemly is an error that may be printed: it contains texts from the server, S3 or the cloud, redacted.
type seemly struct {
	error
	text string
}

func (s seemly) Error() string { return s.text }
func (s seemly) Unwrap() error { return s.error }

// podName identifies this runner, so that a repeated claim is recognised and a second pod's is not: the pod's uid from Kubernetes,
// otherwise host, pid and start time.
func podName() (string, error) {
	if uid := os.Getenv("POD_UID"); uid != "" {
		return uid, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("name this runner: %w", err)
	}
	return fmt.Sprintf("%s:%d:%d", host, os.Getpid(), time.Now().UnixNano()), nil
}

// openAWS opens AWS with the given keys or, without any, with those of the SDK's default chain.
func openAWS(ctx context.Context, region string, keys cloud.Keys) (runner.Cloud, error) {
	options, err := withKeys(ctx, region, keys)
	if err != nil {
		return nil, err
	}
	return aws.New(ctx, region, options...)
}

// openAWSInventory opens an account for a scan in the same way.
func openAWSInventory(ctx context.Context, spec contract.ScanSpec, keys cloud.Keys) (scan.Inventory, error) {
	options, err := withKeys(ctx, spec.HomeRegion, keys)
	if err != nil {
		return nil, err
	}
	return inventory.New(ctx, inventory.Config{
		HomeRegion: spec.HomeRegion, BaseDomains: spec.BaseDomains, CallsPerSecond: spec.CallsPerSecond,
	}, options...)
}

// withKeys returns the options that make the SDK use the keys, and their role, which it assumes again before a session ends.
func withKeys(ctx context.Context, region string, keys cloud.Keys) ([]func(*config.LoadOptions) error, error) {
	options := withStaticKeys(keys)
	if keys.Role.ARN == "" {
		return options, nil
	}
	base, err := config.LoadDefaultConfig(ctx, append(options, config.WithRegion(region))...)
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	assumed := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(base), keys.Role.ARN, func(o *stscreds.AssumeRoleOptions) {
		o.ExternalID, o.RoleSessionName, o.Duration = &keys.Role.ExternalID, keys.Role.Session, time.Hour // as in platform.KeyFile
	})
	return []func(*config.LoadOptions) error{config.WithSharedConfigFiles([]string{os.DevNull}), config.WithCredentialsProvider(assumed)}, nil
}

func withStaticKeys(keys cloud.Keys) []func(*config.LoadOptions) error {
	if keys.Empty() {
		return nil
	}
	// As the programs do that get these keys: a configuration file is about somebody else's.
	return []func(*config.LoadOptions) error{config.WithSharedConfigFiles([]string{os.DevNull}), config.WithCredentialsProvider(
		credentials.NewStaticCredentialsProvider(keys.ID, keys.Secret.Reveal(), keys.Token.Reveal()))}
}

// awsKeys registers the keys of AWS's default chain with the redactor, and returns those that do not renew themselves.
// Keys that are renewed later are recognised by their form, and every program finds them itself.
func awsKeys(ctx context.Context, redact *installer.Redactor) (cloud.Keys, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	loaded, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return cloud.Keys{}, fmt.Errorf("load the AWS configuration: %w", err)
	}
	found, err := loaded.Credentials.Retrieve(ctx)
	if err != nil {
		return cloud.Keys{}, nil // preflight and the comparison of accounts will report it
	}
	keys := cloud.Keys{ID: found.AccessKeyID, Secret: secret.New(found.SecretAccessKey), Token: secret.New(found.SessionToken)}
	redact.Add(keys.Secret, keys.Token)
	if found.CanExpire {
		return cloud.Keys{}, nil
	}
	return keys, nil
}
