package devstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/internal/devstack/child"
	"github.com/ocpctl/ocpctl/internal/devstack/installer"
	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// process is a child with a goroutine that waits for it.
type process struct {
	cmd  *exec.Cmd
	done <-chan struct{}
}

// StartServer starts ocpctl-server and returns when it is ready.
func (h *Stack) StartServer(ctx context.Context) error {
	log, err := os.OpenFile(h.path("log", "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cmd := exec.Command(h.Bin+"/ocpctl-server", "-config", h.path("server.yaml"))
	cmd.Env = h.environment()
	cmd.Stdout, cmd.Stderr = log, log
	exited, err := child.Start(cmd, syscall.SIGTERM)
	log.Close() // the child has its own copy
	if err != nil {
		return err
	}
	h.server = &process{cmd: cmd, done: exited}
	return h.ready(ctx)
}

// ServeBeside starts another ocpctl-server on the stack's database with its own configuration, and returns a function that stops it.
// The caller must wait until it is ready.
func (h *Stack) ServeBeside(config, roles, log string) (stop func() error, err error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close() // the child has its own copy
	cmd := exec.Command(h.Bin+"/ocpctl-server", "-config", config, "-roles", roles, "-migrate=false")
	cmd.Env, cmd.Stdout, cmd.Stderr = h.environment(), out, out
	exited, err := child.Start(cmd, syscall.SIGTERM)
	if err != nil {
		return nil, err
	}
	return func() error { return end(&process{cmd: cmd, done: exited}, syscall.SIGTERM) }, nil
}

// Recover runs ocpctl-server recover with the server's configuration and returns what it printed.
func (h *Stack) Recover(ctx context.Context, args ...string) (out string, err error) {
	cmd := exec.CommandContext(ctx, h.Bin+"/ocpctl-server", append([]string{"recover", "-config", h.path("server.yaml")}, args...)...)
	var table, errs strings.Builder
	cmd.Env, cmd.Stdout, cmd.Stderr = h.environment(), &table, &errs
	if err := cmd.Run(); err != nil {
		return table.String(), fmt.Errorf("recover: %w: %s", err, errs.String())
	}
	return table.String(), nil
}

// ServerPID returns the process id of the server that was started last.
func (h *Stack) ServerPID() int { return h.server.cmd.Process.Pid }

// environment returns the environment of the server and therefore of runners and installers: the machine's own without its cloud
// settings, the SDK's variables that point to the stand-ins, and keys as a file name, never as a value.
func (h *Stack) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "AWS_") })
	env = append(env,
		"AWS_ENDPOINT_URL=http://"+addr(h.Ports.AWS),
		"AWS_ENDPOINT_URL_S3=http://"+addr(h.Ports.S3),
		"AWS_SHARED_CREDENTIALS_FILE="+h.path("secrets", "aws-credentials"),
		"AWS_CONFIG_FILE=/dev/null",
		"AWS_REGION=us-east-1",
		"AWS_EC2_METADATA_DISABLED=true",
		installer.PaceVariable+"="+h.Pace.String(),
		installer.FaultsVariable+"="+h.Faults(),
	)
	return append(env, h.Env...)
}

// Faults is the file that controls the faults of the stand-in installer.
func (h *Stack) Faults() string { return h.path("faults.json") }

// ready waits until the server says that it is ready, or has ended.
func (h *Stack) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		resp, err := http.Get(h.PrivateURL() + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-h.server.done:
			return fmt.Errorf("it ended at once; its words are in %s", h.path("log", "server.log"))
		case <-ctx.Done():
			return fmt.Errorf("it did not become ready; its words are in %s", h.path("log", "server.log"))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// KillServer kills the server, as a power failure would. Runners go on.
func (h *Stack) KillServer() error { return h.endServer(syscall.SIGKILL) }

// StopServer stops the server gracefully. Runners go on.
func (h *Stack) StopServer() error { return h.endServer(syscall.SIGTERM) }

func (h *Stack) endServer(sig syscall.Signal) error { return end(h.server, sig) }

func end(p *process, sig syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(45 * time.Second):
		return errors.Join(fmt.Errorf("ocpctl-server did not stop within 45 s"), p.cmd.Process.Kill())
	}
}

// StopRunners asks every runner to end and waits: an install stops, saves its state and reports it.
func (h *Stack) StopRunners() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	d, err := h.Dispatcher()
	if err != nil {
		return err
	}
	return d.StopAll(ctx)
}

// Dispatcher returns a dispatcher for the same runners as the server's own.
func (h *Stack) Dispatcher() (*dispatch.Process, error) {
	return dispatch.NewProcess(dispatch.Config{
		Runner: h.Bin + "/ocpctl-runner", Installers: h.path("installers"), WorkDir: h.path("work"), StatusURL: h.StatusURL(),
	})
}
