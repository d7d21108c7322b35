package devstack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ocpctl/ocpctl/devstack/child"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Server is one of the stack's ocpctl-server processes.
type Server struct {
	stack           *Stack
	public, private int    // ports of its listeners
	bin             string // folder of its program, and of its runners'
	template        string // of its configuration
	config, log     string
	process         *process // nil: never started
}

// process is a child with a goroutine that waits for it.
type process struct {
	cmd  *exec.Cmd
	done <-chan struct{}
}

// placeServers chooses the servers' ports: the stack's own, or free ones behind load balancers.
func (h *Stack) placeServers(context.Context) (err error) {
	defer must.Catch(&err)
	for n := range max(h.Replicas, 1) {
		name := "server"
		if n > 0 {
			name = fmt.Sprintf("server-%d", n+1)
		}
		s := &Server{
			stack: h, bin: h.Bin, template: serverConfig, public: h.Ports.Public, private: h.Ports.Private,
			config: h.path(name + ".yaml"), log: h.path("log", name+".log"),
		}
		if h.Replicas > 1 {
			s.public = must.Get(FreePort())
			s.private = must.Get(FreePort())
		}
		h.Servers = append(h.Servers, s)
	}
	if h.Old == "" {
		return nil
	}
	first := h.Servers[0]
	first.bin = must.Get(filepath.Abs(h.Old))
	raw, err := os.ReadFile(filepath.Join(first.bin, "server.yaml.tmpl"))
	first.template = string(raw)
	return err
}

// startBalancers puts a load balancer before several servers' public listeners, and one before their private ones.
func (h *Stack) startBalancers(context.Context) error {
	if len(h.Servers) < 2 {
		return nil
	}
	var public, private []string
	for _, s := range h.Servers {
		public, private = append(public, addr(s.public)), append(private, addr(s.private))
	}
	for port, to := range map[int][]string{h.Ports.Public: public, h.Ports.Private: private} {
		b, err := StartCut(addr(port), to...)
		if err != nil {
			return err
		}
		h.balancers = append(h.balancers, b)
	}
	return nil
}

// startFirst starts all servers, an older release's alone, or none.
func (h *Stack) startFirst(ctx context.Context) error {
	if h.NoServer {
		return nil
	}
	if h.Old != "" {
		return h.Servers[0].Start(ctx)
	}
	return h.StartServer(ctx)
}

// StartServer starts every server that does not run, and returns when all are ready.
func (h *Stack) StartServer(ctx context.Context) error {
	for _, s := range h.Servers {
		if !s.runs() {
			if err := s.Start(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// Start starts the server and returns when it is ready.
func (s *Server) Start(ctx context.Context, flags ...string) (err error) {
	defer must.Catch(&err)
	log := must.Get(os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
	cmd := exec.Command(filepath.Join(s.bin, "ocpctl-server"), append([]string{"-config", s.config}, flags...)...)
	cmd.Env = s.stack.environment()
	cmd.Stdout, cmd.Stderr = log, log
	exited, err := child.Start(cmd, syscall.SIGTERM)
	log.Close() // the child has its own copy
	must.Do(err)
	s.process = &process{cmd: cmd, done: exited}
	return s.ready(ctx)
}

// Kill kills the server, as a power failure would. Runners go on.
func (s *Server) Kill() error { return end(s.process, syscall.SIGKILL) }

// Stop stops the server gracefully. Runners go on.
func (s *Server) Stop() error { return end(s.process, syscall.SIGTERM) }

// PID returns the process id of the server as it was started last.
func (s *Server) PID() int { return s.process.cmd.Process.Pid }

// Signal sends the server a signal and does not wait.
func (s *Server) Signal(sig syscall.Signal) error { return s.process.cmd.Process.Signal(sig) }

// Instance is the server's name in the queue, as it logged it last.
func (s *Server) Instance() (name string, err error) {
	defer must.Catch(&err)
	raw := must.Get(os.ReadFile(s.log))
	for line := range bytes.Lines(raw) {
		var said struct{ Msg, Instance string }
		if json.Unmarshal(line, &said) == nil && said.Msg == "registered in the queue" {
			name = said.Instance
		}
	}
	must.FailIf(name == "", "%s does not say which name the server has in the queue", s.log)
	return name, nil
}

func (s *Server) runs() bool {
	if s.process == nil {
		return false
	}
	select {
	case <-s.process.done:
		return false
	default:
		return true
	}
}

// started reports whether any server was ever started.
func (h *Stack) started() bool {
	return slices.ContainsFunc(h.Servers, func(s *Server) bool { return s.process != nil })
}

// Configure stops the servers, changes the configuration, and starts the servers with it.
func (h *Stack) Configure(ctx context.Context, change func(*Config)) (err error) {
	defer must.Catch(&err)
	must.Do(h.StopServer())
	change(&h.Config)
	must.Do(h.writeConfig())
	return h.StartServer(ctx)
}

// ServeBeside starts another ocpctl-server on the stack's database with its own configuration, and returns a function that stops it.
// The caller must wait until it is ready.
func (h *Stack) ServeBeside(config, roles, log string) (stop func() error, err error) {
	defer must.Catch(&err)
	out := must.Get(os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
	defer out.Close() // the child has its own copy
	cmd := exec.Command(h.Bin+"/ocpctl-server", "-config", config, "-roles", roles, "-migrate=false")
	cmd.Env, cmd.Stdout, cmd.Stderr = h.environment(), out, out
	exited := must.Get(child.Start(cmd, syscall.SIGTERM))
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

// ServerPID returns the process id of the first server.
func (h *Stack) ServerPID() int { return h.Servers[0].PID() }

// environment returns the environment of the server and therefore of runners and installers: the machine's own without its cloud
// settings, the SDK's variables that point to the stand-ins, and keys as a file name, never as a value.
func (h *Stack) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "AWS_") || strings.HasPrefix(pair, "IBMCLOUD_") || strings.HasPrefix(pair, "IC_API_KEY=")
	})
	env = append(env, h.cloud()...)
	env = append(env, h.standIns()...)
	return append(env, h.Env...)
}

// cloud returns the variables that point to the stand-in clouds.
func (h *Stack) cloud() []string {
	return append(ibmcloud.Environment("http://"+addr(h.Ports.IBMCloud)),
		"IBMCLOUD_LIMITS=vpc=200,vcpu=4000,load-balancer=600,floating-ip=400,volume=4000",              // the stand-in has room for many clusters
		"AWS_ENDPOINT_URL=http://"+addr(h.Ports.AWS), "AWS_ENDPOINT_URL_STS=http://"+addr(h.Ports.AWS), // a role in a file of keys is assumed there
		installer.AWSVariable+"=http://"+addr(h.Ports.AWS),
		"AWS_ENDPOINT_URL_S3=http://"+addr(h.Ports.S3),
		"AWS_SHARED_CREDENTIALS_FILE="+h.path("secrets", "aws-credentials"),
		"AWS_CONFIG_FILE=/dev/null",
		"AWS_REGION=us-east-1",
		"AWS_EC2_METADATA_DISABLED=true",
	)
}

// standIns returns the variables of the stand-in programs.
func (h *Stack) standIns() []string {
	env := []string{installer.PaceVariable + "=" + h.Pace.String(), installer.FaultsVariable + "=" + h.Faults()}
	if h.Hub != nil {
		env = append(env, installer.HubVariable+"="+h.Hub.GuestsURL())
	}
	return env
}

// writeEnvironment writes the cloud variables to server.env, so that people can run the server's commands against the stack.
func (h *Stack) writeEnvironment() error {
	return os.WriteFile(h.path("server.env"), []byte(strings.Join(h.cloud(), "\n")+"\n"), 0o600)
}

// Faults is the file that controls the faults of the stand-in installer.
func (h *Stack) Faults() string {
	if h.Kubernetes {
		return h.path(sharedFolder, "faults.json")
	}
	return h.path("faults.json")
}

// ready waits until the server says that it is ready, or has ended.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		resp, err := http.Get("http://" + addr(s.private) + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-s.process.done:
			return fmt.Errorf("it ended at once; its log is %s", s.log)
		case <-ctx.Done():
			return fmt.Errorf("it did not become ready; its log is %s", s.log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// KillServer kills every server, as a power failure would. Runners go on.
func (h *Stack) KillServer() error { return h.endServers((*Server).Kill) }

// StopServer stops every server gracefully. Runners go on.
func (h *Stack) StopServer() error { return h.endServers((*Server).Stop) }

func (h *Stack) endServers(end func(*Server) error) error {
	var errs []error
	for _, s := range h.Servers {
		if s.process != nil {
			errs = append(errs, end(s))
		}
	}
	return errors.Join(errs...)
}

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
