package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/internal/secret"
)

// Config says how local runners are started.
type Config struct {
	Runner     string   // path of ocpctl-runner
	Installers string   // directory of <version>/openshift-install
	WorkDir    string   // contains a directory for each attempt
	StatusURL  string   // URL of the Status API for runners
	Env        []string // KEY=value; only variables that Allowed selects reach a runner. nil: the server's own
	Now        func() time.Time
}

// The files of an attempt's directory.
const (
	startedFile = "started"      // created exclusively before the start: if it exists, there is no second start
	processFile = "process.json" // identity of the runner
	tokenFile   = "token"        // mode 0600
	stoppedFile = "stopped"      // a SIGTERM was sent
	logFile     = "runner.log"
	workFolder  = "work" // work directory of the runner
)

// startedFormat is the content of startedFile: time, kind, number and cluster of the attempt. A scan has noCluster there.
const (
	startedFormat = "%s %s attempt %d of cluster %s\n"
	noCluster     = "-"
)

// attemptVariable marks a runner and everything it starts, so that they can be found even if nothing was stored.
const attemptVariable = "OCPCTL_ATTEMPT"

// ImageCacheVariable names a directory that runners share, with the images of machines.
const ImageCacheVariable = "OCPCTL_IMAGE_CACHE"

// StatusCAVariable holds CA certificates (PEM) with which runners verify the Status API, besides those of their machine.
const StatusCAVariable = "OCPCTL_STATUS_CA"

// startPatience is how long a start without a stored identity may still be in progress.
const startPatience = 10 * time.Second

var plainID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

// Process starts runners as local processes. It has no state: everything is in WorkDir and in the kernel.
type Process struct{ cfg Config }

// NewProcess checks the configuration and makes the work directory.
func NewProcess(cfg Config) (*Process, error) {
	if cfg.Runner == "" || cfg.Installers == "" || cfg.WorkDir == "" || cfg.StatusURL == "" {
		return nil, errors.New("dispatch: runner, installers, work directory and status URL are required")
	}
	if cfg.Env == nil {
		cfg.Env = os.Environ()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	for _, each := range []*string{&cfg.Runner, &cfg.Installers, &cfg.WorkDir} {
		full, err := filepath.Abs(*each)
		if err != nil {
			return nil, fmt.Errorf("dispatch: %w", err)
		}
		*each = full
	}
	if err := os.MkdirAll(cfg.WorkDir, 0o700); err != nil {
		return nil, fmt.Errorf("dispatch: %w", err)
	}
	return &Process{cfg: cfg}, nil
}

func (p *Process) attemptDir(attempt string) (string, error) {
	if !plainID.MatchString(attempt) {
		return "", fmt.Errorf("attempt id %q may not name a directory", attempt)
	}
	return filepath.Join(p.cfg.WorkDir, attempt), nil
}

// Start starts the attempt's runner, once, however often it is called. An interrupted start is not repeated: the attempt is then seen
// as ended, and the next attempt follows.
func (p *Process) Start(ctx context.Context, job Job) error {
	dir, err := p.attemptDir(job.Attempt)
	if err != nil {
		return err
	}
	if err := errors.Join(ctx.Err(), job.Check()); err != nil {
		return fmt.Errorf("start attempt %s: %w", job.Attempt, err)
	}
	if err := p.checkAlone(ctx, job); err != nil {
		return fmt.Errorf("start attempt %s: %w", job.Attempt, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, workFolder), 0o700); err != nil {
		return fmt.Errorf("start attempt %s: %w", job.Attempt, err)
	}
	marker, err := os.OpenFile(filepath.Join(dir, startedFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("start attempt %s: %w", job.Attempt, err)
	}
	_, err = fmt.Fprintf(marker, startedFormat, p.cfg.Now().UTC().Format(time.RFC3339Nano), job.Kind, job.Number, cmp.Or(job.Cluster, noCluster))
	if err = errors.Join(err, marker.Close()); err == nil {
		err = p.launchRunner(dir, job)
	}
	if err != nil {
		return fmt.Errorf("start attempt %s: %w", job.Attempt, err)
	}
	return nil
}

// checkAlone returns an error if another attempt of the cluster has a living runner. A scan's directory admits only one.
func (p *Process) checkAlone(ctx context.Context, job Job) error {
	if job.Cluster == "" {
		return nil
	}
	living, err := p.Living(ctx, job.Cluster)
	if err != nil {
		return err
	}
	return Alone(job, living)
}

// launchRunner starts the runner in a session of its own, so it has no terminal and survives the server.
func (p *Process) launchRunner(dir string, job Job) error {
	token := filepath.Join(dir, tokenFile)
	if err := os.WriteFile(token, []byte(job.Token), 0o600); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.cfg.Runner, job.Arguments(p.cfg.StatusURL, token, filepath.Join(dir, workFolder), p.cfg.Installers)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log // Stdin nil: /dev/null
	cmd.Env = append(Allowed(p.cfg.Env), attemptVariable+"="+job.Attempt)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	id, err := identifyProcess(cmd.Process.Pid)
	if err == nil {
		err = id.saveTo(filepath.Join(dir, processFile))
	}
	go func() { _ = cmd.Wait() }() // reaps it; the Status API and Observe report what happened, so the exit code is not used
	return err
}

// Allowed selects the environment variables for a runner: paths, cloud settings other than a credential of IBM Cloud, certificates, proxies, where traces go, and the
// settings of stand-ins. Nothing else that belongs to the server is passed on.
func Allowed(env []string) []string {
	var kept []string
	for _, pair := range env {
		key, _, _ := strings.Cut(pair, "=")
		switch key {
		case "PATH", "HOME", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "OCPCTL_PERMISSIONS_BOUNDARY", ImageCacheVariable, StatusCAVariable,
			"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy":
			kept = append(kept, pair)
		default:
			if strings.HasPrefix(key, "AWS_") || strings.HasPrefix(key, "IBMCLOUD_") && !secret.IBMVariable(key) || strings.HasPrefix(key, "OCPCTL_STANDIN_") ||
				strings.HasPrefix(key, "OTEL_EXPORTER_OTLP_") || strings.HasPrefix(key, "OTEL_TRACES_") || key == "OTEL_SDK_DISABLED" {
				kept = append(kept, pair)
			}
		}
	}
	return kept
}

// Stop asks an attempt's runner to end with one SIGTERM, however often it is called. The runner stops its installer gracefully, which
// takes up to two minutes; Observe reports when it has ended. A missing runner is no error.
func (p *Process) Stop(_ context.Context, attempt string) error {
	dir, err := p.attemptDir(attempt)
	if err != nil {
		return err
	}
	sent := filepath.Join(dir, stoppedFile)
	if _, err := os.Lstat(sent); err == nil {
		return nil
	}
	id, err := loadIdentity(filepath.Join(dir, processFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("stop attempt %s: %w", attempt, err)
	}
	if err := id.terminate(); err != nil {
		return fmt.Errorf("stop attempt %s: %w", attempt, err)
	}
	if err := os.WriteFile(sent, nil, 0o600); err != nil {
		return fmt.Errorf("stop attempt %s: %w", attempt, err)
	}
	return nil
}

// Kept lists the attempts that have a directory.
func (p *Process) Kept(_ context.Context) ([]string, error) {
	entries, err := os.ReadDir(p.cfg.WorkDir)
	if err != nil {
		return nil, fmt.Errorf("read the work directory: %w", err)
	}
	var kept []string
	for _, entry := range entries {
		if plainID.MatchString(entry.Name()) {
			kept = append(kept, entry.Name())
		}
	}
	return kept, nil
}

// Forget deletes what is left of an ended attempt, including its log. It refuses while anything of it is alive.
func (p *Process) Forget(ctx context.Context, attempt string) error {
	dir, err := p.attemptDir(attempt)
	if err != nil {
		return err
	}
	seen, err := p.Observe(ctx, attempt)
	if err != nil {
		return err
	}
	if seen.Sighting != Ended && seen.Sighting != NotStarted {
		return fmt.Errorf("forget attempt %s: its runner was not seen to end", attempt)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("forget attempt %s: %w", attempt, err)
	}
	return nil
}
