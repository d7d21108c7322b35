// Command ocpctl-runner runs one attempt for one cluster. ocpctl-server starts it, as a local process or in a pod of its own; it is
// never started by hand.
//
// Its exit code says whether the server has the result, not what that is: 0 delivered, 1 not delivered, 2 wrong usage, 3 the attempt
// belongs to another runner or is closed.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/internal/buildinfo"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/internal/tracing"
	"github.com/ocpctl/ocpctl/internal/tracing/export"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/aws"
	"github.com/ocpctl/ocpctl/runner/installer"
	"github.com/ocpctl/ocpctl/runner/status"
)

const (
	exitUntold = 1
	exitUsage  = 2
	exitFenced = 3
)

// errUsage marks what a retry cannot fix: the command line or the files that it names.
var errUsage = errors.New("usage")

func main() { os.Exit(code(run())) }

func code(err error) int {
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

// flags say which server to use and where to work. A pod gets its token as a mounted file.
type flags struct{ server, attempt, tokenFile, workDir, installers string }

func run() error {
	// The first SIGTERM stops the attempt gracefully; further ones change nothing. Only the host sends SIGKILL.
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	var f flags
	cmd := &cobra.Command{
		Use: "ocpctl-runner", Short: "Make one attempt at creating or destroying one cluster",
		Version: buildinfo.Read().Version, Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return attempt(cmd.Context(), f) },
	}
	cmd.SetVersionTemplate(buildinfo.Read().Line("ocpctl-runner") + "\n")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	for _, each := range []struct {
		into        *string
		name, usage string
	}{
		{&f.server, "server", "base URL of the Status API"},
		{&f.attempt, "attempt", "id of the attempt"},
		{&f.tokenFile, "token-file", "file that holds the attempt's token"},
		{&f.workDir, "work-dir", "empty directory to work in"},
		{&f.installers, "installers", "directory of <version>/openshift-install, ccoctl and oc"},
	} {
		cmd.Flags().StringVar(each.into, each.name, "", each.usage)
		if err := cmd.MarkFlagRequired(each.name); err != nil {
			return err
		}
	}
	err := cmd.ExecuteContext(ctx)
	if err != nil && strings.HasPrefix(err.Error(), "required flag") {
		err = fmt.Errorf("%w: %w", errUsage, err)
	}
	return err
}

func attempt(ctx context.Context, f flags) error {
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
	keys, err := chainKeys(ctx, redact)
	if err != nil {
		return err
	}
	lines := redact.Lines(func(line string) { fmt.Fprintln(os.Stdout, line) })
	defer lines.Close()
	log := slog.New(tracing.Log(slog.NewJSONHandler(lines, nil)))
	flush, err := export.Start(ctx, "ocpctl-runner", buildinfo.Read().Version, log)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	defer flush()
	err = runner.Run(ctx, runner.Config{
		Server: f.server, Attempt: f.attempt, Token: token, Pod: pod, WorkDir: f.workDir, Installers: f.installers,
		Env: os.Environ(), Boundary: os.Getenv("OCPCTL_PERMISSIONS_BOUNDARY"), Keys: keys, Cloud: openCloud,
		HTTP:   &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute}},
		Log:    log,
		Redact: redact,
	})
	if err != nil {
		return seemly{err, redact.Text(err.Error())}
	}
	return nil
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

// openCloud opens the cloud with the given keys or, without any, with those of the SDK's default chain.
func openCloud(ctx context.Context, region string, keys cloud.Keys) (runner.Cloud, error) {
	var options []func(*config.LoadOptions) error
	if !keys.Empty() {
		// As the programs do that get these keys: a configuration file is about somebody else's.
		options = append(options, config.WithSharedConfigFiles([]string{os.DevNull}), config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(keys.ID, keys.Secret.Reveal(), keys.Token.Reveal())))
	}
	return aws.New(ctx, region, options...)
}

// chainKeys registers the cloud's keys of the SDK's default chain with the redactor, and returns those that do not renew themselves.
// Keys that are renewed later are recognised by their form, and every program finds them itself.
func chainKeys(ctx context.Context, redact *installer.Redactor) (cloud.Keys, error) {
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
